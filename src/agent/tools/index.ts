/** The built-in agent's own tools as a tool source. */
import { z } from "zod";
import { messageOf, type ToolSource, type ToolSpec } from "../../domain/index.ts";
import { PathRefusal } from "../../stdx/index.ts";
import { bash } from "./bash.ts";
import { edit } from "./edit.ts";
import { read } from "./read.ts";
import { ToolRefusal, type CodingTool } from "./tool.ts";
import { write } from "./write.ts";

export interface CodingToolsOptions {
  /** The environment of commands: without the keys of model providers. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TOOLS = new Map<string, CodingTool>([read, write, edit, bash].map((tool) => [tool.name, tool]));
/** The same for every session, and the larger part of what an idle one would cost. */
let specs: readonly ToolSpec[] | undefined;

export function codingTools({ env }: CodingToolsOptions): ToolSource {
  specs ??= Array.from(TOOLS.values(), specOf);
  const list = specs;
  return {
    id: "coding",
    list: () => list,
    describe: ({ name, input }) => TOOLS.get(name)?.describe(input) ?? { title: name },
    async call({ name, input }, context) {
      const tool = TOOLS.get(name);
      if (tool === undefined) return { outcome: "failed", text: `there is no tool "${name}"` };
      try {
        return await tool.run(input, { ...context, env });
      } catch (error) {
        if (isOutcome(error)) return { outcome: "failed", text: messageOf(error) };
        throw error; // a broken log, or a defect: not the tool's outcome
      }
    },
  };
}

function specOf({ name, description, kind, readOnly, input }: CodingTool): ToolSpec {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input) as Record<string, unknown>;
  return { name, description, kind, readOnly, inputSchema };
}

function isOutcome(error: unknown): boolean {
  if (error instanceof ToolRefusal || error instanceof PathRefusal) return true;
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
