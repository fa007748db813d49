/** Reads a server's tools. A tool that cannot be used does not affect the others. */
import { z } from "zod";
import type { ToolHints, ToolSpec } from "../../domain/index.ts";
import { toolName } from "../names.ts";
import { guessToolKind } from "./kind.ts";
import { truncateWithCount } from "../truncate.ts";
import { findExcess, toProviderSchema } from "./schema.ts";

export interface ToolTable {
  readonly specs: readonly ToolSpec[];
  /** Maps the model's name of a tool to the server's name. */
  readonly origins: ReadonlyMap<string, string>;
  /** What was ignored or changed, and why. */
  readonly remarks: readonly string[];
}

export const NO_TOOLS: ToolTable = { specs: [], origins: new Map(), remarks: [] };

const MAX_DESCRIPTION = 20_000;
const MAX_TITLE = 200;

const ListedTool = z.lazy(() =>
  z.object({
    name: z.string().min(1).max(1_000),
    title: z.string().optional().catch(undefined),
    description: z.string().optional().catch(undefined),
    inputSchema: z.unknown().optional(),
    outputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
    annotations: z
      .object({
        title: z.string().optional().catch(undefined),
        readOnlyHint: z.boolean().optional().catch(undefined),
        destructiveHint: z.boolean().optional().catch(undefined),
        idempotentHint: z.boolean().optional().catch(undefined),
        openWorldHint: z.boolean().optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
    execution: z.object({ taskSupport: z.string().optional() }).optional().catch(undefined),
  }),
);

export function readTools(server: string, items: readonly unknown[], defer: boolean | undefined): ToolTable {
  const specs: ToolSpec[] = [];
  const origins = new Map<string, string>();
  const remarks: string[] = [];
  for (const item of items) {
    const read = ListedTool.safeParse(item);
    if (!read.success) {
      remarks.push("a tool without a name is ignored");
      continue;
    }
    const { name: tool, annotations, description, outputSchema, execution } = read.data;
    const rawTitle = read.data.title ?? annotations?.title;
    const title = rawTitle && truncateWithCount(rawTitle, MAX_TITLE);
    const name = toolName(server, tool);
    const ignoreTool = (why: string): void => void remarks.push(`its tool ${tool.slice(0, 100)} is ignored: ${why}`);
    if (execution?.taskSupport === "required") {
      ignoreTool("it runs only as a task, which Rookery does not support");
      continue;
    }
    if (origins.has(name)) {
      ignoreTool("it is listed twice");
      continue;
    }
    const schema = toProviderSchema(read.data.inputSchema);
    if ("refused" in schema) {
      ignoreTool(schema.refused);
      continue;
    }
    const hints: ToolHints = {
      readOnly: annotations?.readOnlyHint,
      destructive: annotations?.destructiveHint,
      idempotent: annotations?.idempotentHint,
      openWorld: annotations?.openWorldHint,
    };
    const excess = outputSchema && findExcess(outputSchema);
    if (excess !== undefined) remarks.push(`the output schema of its tool ${tool.slice(0, 100)} is ignored: ${excess}`);
    origins.set(name, tool);
    specs.push({
      name,
      description: (description ?? title ?? "").slice(0, MAX_DESCRIPTION),
      inputSchema: schema.schema,
      kind: guessToolKind(tool, hints),
      readOnly: false, // the server's hint is not trusted
      hints,
      ...(title !== undefined && { title }),
      ...(outputSchema !== undefined && excess === undefined && { outputSchema }),
      ...(defer !== undefined && { defer }),
    });
  }
  return { specs, origins, remarks };
}
