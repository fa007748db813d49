/** Reads a server's tools as ours, each for itself: one that cannot be offered does not take the others with it. */
import { z } from "zod";
import type { ToolHints, ToolSpec } from "../../domain/index.ts";
import { toolName } from "../names.ts";
import { kindOf } from "./kind.ts";
import { shortened } from "../shortened.ts";
import { excessOf, offerable } from "./schema.ts";

export interface ToolTable {
  readonly specs: readonly ToolSpec[];
  /** From the name that a model calls to the server's own. */
  readonly origins: ReadonlyMap<string, string>;
  /** What was left out or changed, and why. */
  readonly remarks: readonly string[];
}

export const NO_TOOLS: ToolTable = { specs: [], origins: new Map(), remarks: [] };

const MAX_DESCRIPTION = 20_000;
const MAX_TITLE = 200;

const Announced = z.lazy(() =>
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
    const read = Announced.safeParse(item);
    if (!read.success) {
      remarks.push("a tool without a name is left out");
      continue;
    }
    const { name: tool, annotations, description, outputSchema, execution } = read.data;
    const said = read.data.title ?? annotations?.title;
    const title = said && shortened(said, MAX_TITLE);
    const name = toolName(server, tool);
    const leaveOut = (why: string): void => void remarks.push(`its tool ${tool.slice(0, 100)} is left out: ${why}`);
    if (execution?.taskSupport === "required") {
      leaveOut("it runs only as a task of its own, which is not supported");
      continue;
    }
    if (origins.has(name)) {
      leaveOut("it is listed twice");
      continue;
    }
    const schema = offerable(read.data.inputSchema);
    if ("refused" in schema) {
      leaveOut(schema.refused);
      continue;
    }
    const hints: ToolHints = {
      readOnly: annotations?.readOnlyHint,
      destructive: annotations?.destructiveHint,
      idempotent: annotations?.idempotentHint,
      openWorld: annotations?.openWorldHint,
    };
    const excess = outputSchema && excessOf(outputSchema);
    if (excess !== undefined)
      remarks.push(`what its tool ${tool.slice(0, 100)} promises to return is left out: ${excess}`);
    origins.set(name, tool);
    specs.push({
      name,
      description: (description ?? title ?? "").slice(0, MAX_DESCRIPTION),
      inputSchema: schema.schema,
      kind: kindOf(tool, hints),
      readOnly: false, // a hint is not a promise
      hints,
      ...(title !== undefined && { title }),
      ...(outputSchema !== undefined && excess === undefined && { outputSchema }),
      ...(defer !== undefined && { defer }),
    });
  }
  return { specs, origins, remarks };
}
