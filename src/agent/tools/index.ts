/** The built-in agent's own tools as a tool source. */
import { z } from "zod";
import { messageOf, type EventBody, type ToolSource, type ToolSpec } from "../../domain/index.ts";
import { PathRefusal } from "../../stdx/index.ts";
import { ask } from "./ask.ts";
import { edit } from "./files/edit.ts";
import { read } from "./files/read.ts";
import { SeenFiles, type Earlier } from "./files/seen.ts";
import { write } from "./files/write.ts";
import { glob } from "./search/glob.ts";
import { grep } from "./search/grep.ts";
import { list } from "./search/list.ts";
import { Background } from "./shell/background.ts";
import { bash } from "./shell/bash.ts";
import { bashInput, bashKill, bashOutput } from "./shell/handles.ts";
import { todo } from "./todo.ts";
import { ToolRefusal, type CodingTool } from "./tool.ts";
import { fetch } from "./web/fetch.ts";

export interface CodingToolsOptions {
  /** The environment of commands: without the keys of model providers. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the file tools reach beside the working folder; absolute. */
  readonly folders?: readonly string[] | undefined;
  /** For what happens between calls: a command in the background ends. Must not throw. */
  readonly record?: ((body: EventBody) => void) | undefined;
  /** For what was read before this process had the session. */
  readonly earlier?: Earlier | undefined;
}

/** Disposing ends what runs in the background. */
export interface CodingTools extends ToolSource, AsyncDisposable {}

const FILES = [read, write, edit, list, glob, grep];
const SHELL = [bash, bashOutput, bashInput, bashKill];
const ALL: readonly CodingTool[] = [...FILES, ...SHELL, fetch, todo, ask];
const TOOLS = new Map(ALL.map((tool) => [tool.name, tool]));
/** The same for every session, and the larger part of what an idle one would cost. */
let specs: readonly ToolSpec[] | undefined;

export function codingTools({ env, folders = [], record = () => undefined, earlier }: CodingToolsOptions): CodingTools {
  specs ??= Array.from(TOOLS.values(), specOf);
  const offered = specs;
  const background = new Background(record);
  const seen = new SeenFiles(earlier);
  return {
    id: "coding",
    list: () => offered,
    describe: ({ name, input }) => TOOLS.get(name)?.describe(input) ?? { title: name },
    async call({ name, input }, context) {
      const tool = TOOLS.get(name);
      if (tool === undefined) return { outcome: "failed", text: `there is no tool "${name}"` };
      const own = { env, folders: [context.cwd, ...folders], seen, background };
      try {
        return await tool.run(input, { ...context, ...own });
      } catch (error) {
        if (isOutcome(error)) return { outcome: "failed", text: messageOf(error) };
        if (context.signal.aborted && error === context.signal.reason) return CANCELLED;
        if (context.signal.aborted && (error as Error).name === "AbortError") return CANCELLED;
        throw error; // a broken log, or a defect: not the tool's outcome
      }
    },
    [Symbol.asyncDispose]: () => background[Symbol.asyncDispose](),
  };
}

const CANCELLED = { outcome: "cancelled" as const, text: "[cancelled]" };

function specOf(tool: CodingTool): ToolSpec {
  const { name, description, kind, readOnly, repeatable, concurrent, timeoutMs, input } = tool;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input) as Record<string, unknown>;
  return { name, description, kind, readOnly, repeatable, concurrent, timeoutMs, inputSchema };
}

function isOutcome(error: unknown): boolean {
  if (error instanceof ToolRefusal || error instanceof PathRefusal) return true;
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
