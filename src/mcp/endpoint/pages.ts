/** The tools of an artifact as MCP lists them, a page at a time. */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { ToolSpec } from "../../domain/tools.ts";
import type { Artifact } from "../../tools/index.ts";

const PAGE_SIZE = 1_000;

export interface Page {
  readonly [key: string]: unknown;
  readonly tools: Tool[];
  readonly nextCursor?: string;
}

/** All pages of a listing are of the artifact that it began with: a change in between is told, and listed anew. */
export class Pages {
  #listed: Artifact | undefined;

  /** Undefined for a cursor that no page gave. */
  page(present: () => Artifact, cursor: string | undefined): Page | undefined {
    if (cursor === undefined) this.#listed = present();
    const definitions = this.#listed?.definitions ?? [];
    const begin = cursor === undefined ? 0 : beginOf(cursor);
    if (begin === undefined || (begin !== 0 && begin >= definitions.length)) return undefined;
    const end = begin + PAGE_SIZE;
    const tools = definitions.slice(begin, end).map(toolOf);
    return end < definitions.length ? { tools, nextCursor: String(end) } : { tools };
  }
}

function beginOf(cursor: string): number | undefined {
  const begin = /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
  return begin > 0 && begin % PAGE_SIZE === 0 ? begin : undefined;
}

function toolOf({ name, title, description, inputSchema, outputSchema, readOnly, hints = {} }: ToolSpec): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema as Tool["inputSchema"],
    ...(title !== undefined && { title }),
    ...(promises(outputSchema) && { outputSchema: outputSchema as Tool["outputSchema"] }),
    annotations: {
      readOnlyHint: readOnly || hints.readOnly === true,
      ...(hints.destructive !== undefined && { destructiveHint: hints.destructive }),
      ...(hints.idempotent !== undefined && { idempotentHint: hints.idempotent }),
      ...(hints.openWorld !== undefined && { openWorldHint: hints.openWorld }),
    },
  };
}

/** MCP (2025-11-25) knows structured results that are objects, and a client refuses a whole list with another schema in it. */
export function promises(outputSchema: ToolSpec["outputSchema"]): boolean {
  return outputSchema?.["type"] === "object";
}
