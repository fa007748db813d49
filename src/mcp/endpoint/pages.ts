/** Lists the tools of a snapshot in pages, in the format of MCP. */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { ToolSpec } from "../../domain/tools.ts";
import type { ToolSnapshot } from "../../tools/index.ts";

const PAGE_SIZE = 1_000;

export interface ToolPage {
  readonly [key: string]: unknown;
  readonly tools: Tool[];
  readonly nextCursor?: string;
}

/** All pages of a listing come from one snapshot. A change in between is notified, and the client lists again. */
export class ToolPages {
  #listed: ToolSnapshot | undefined;

  /** Returns undefined for an invalid cursor. */
  page(present: () => ToolSnapshot, cursor: string | undefined): ToolPage | undefined {
    if (cursor === undefined) this.#listed = present();
    const definitions = this.#listed?.definitions ?? [];
    const begin = cursor === undefined ? 0 : parseCursor(cursor);
    if (begin === undefined || (begin !== 0 && begin >= definitions.length)) return undefined;
    const end = begin + PAGE_SIZE;
    const tools = definitions.slice(begin, end).map(toMcpTool);
    return end < definitions.length ? { tools, nextCursor: String(end) } : { tools };
  }
}

function parseCursor(cursor: string): number | undefined {
  const begin = /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
  return begin > 0 && begin % PAGE_SIZE === 0 ? begin : undefined;
}

function toMcpTool({ name, title, description, inputSchema, outputSchema, readOnly, hints = {} }: ToolSpec): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema as Tool["inputSchema"],
    ...(title !== undefined && { title }),
    ...(hasObjectOutput(outputSchema) && { outputSchema: outputSchema as Tool["outputSchema"] }),
    annotations: {
      readOnlyHint: readOnly || hints.readOnly === true,
      ...(hints.destructive !== undefined && { destructiveHint: hints.destructive }),
      ...(hints.idempotent !== undefined && { idempotentHint: hints.idempotent }),
      ...(hints.openWorld !== undefined && { openWorldHint: hints.openWorld }),
    },
  };
}

/**
 * MCP (2025-11-25) supports only objects as structured results, and clients reject a list that contains another schema.
 */
export function hasObjectOutput(outputSchema: ToolSpec["outputSchema"]): boolean {
  return outputSchema?.["type"] === "object";
}
