/** The built-in agent's own tools as a tool source. */
import { z } from "zod";
import { messageOf, type EventBody, type ToolSource, type ToolSpec } from "../../domain/index.ts";
import { PathRefusal, type EnvironmentVariables } from "../../stdx/index.ts";
import { askTool } from "./ask.ts";
import { editTool } from "./files/edit.ts";
import { readTool } from "./files/read.ts";
import { SeenFiles, type ReadSessionHistory } from "./files/seen-files.ts";
import { writeTool } from "./files/write.ts";
import { globTool } from "./search/glob.ts";
import { grepTool } from "./search/grep.ts";
import { listTool } from "./search/list-tool.ts";
import { BackgroundCommands } from "./shell/background-commands.ts";
import { bashTool } from "./shell/bash.ts";
import { bashInputTool, bashKillTool, bashOutputTool } from "./shell/background-tools.ts";
import { todoTool } from "./todo.ts";
import { ToolRefusal } from "./tool-refusal.ts";
import type { CodingTool } from "./tool.ts";
import { fetchTool } from "./web/fetch.ts";

export interface CodingToolsOptions {
  /** The environment of commands. It must not contain the keys of model providers. */
  readonly env: EnvironmentVariables;
  /** Absolute directories that the file tools may access besides the working directory. */
  readonly folders?: readonly string[] | undefined;
  /** Records events between calls, such as the end of a background command. Must not throw. */
  readonly record?: ((body: EventBody) => void) | undefined;
  /** Reads the session's events, to find files that were read before this process opened the session. */
  readonly readHistory?: ReadSessionHistory | undefined;
}

/** Disposing ends the background commands. */
export interface CodingTools extends ToolSource, AsyncDisposable {}

const FILES = [readTool, writeTool, editTool, listTool, globTool, grepTool];
const SHELL = [bashTool, bashOutputTool, bashInputTool, bashKillTool];
const ALL: readonly CodingTool[] = [...FILES, ...SHELL, fetchTool, todoTool, askTool];
const TOOLS = new Map(ALL.map((tool) => [tool.name, tool]));
/** Shared by all sessions: the specs are most of the memory of an idle session. */
let specs: readonly ToolSpec[] | undefined;

export function createCodingTools({
  env,
  folders = [],
  record = () => undefined,
  readHistory,
}: CodingToolsOptions): CodingTools {
  specs ??= Array.from(TOOLS.values(), createToolSpec);
  const sharedSpecs = specs;
  const background = new BackgroundCommands(record);
  const seen = new SeenFiles(readHistory);
  return {
    id: "coding",
    list: () => sharedSpecs,
    describe: ({ name, input }) => TOOLS.get(name)?.describe(input) ?? { title: name },
    async preview({ name, input }, { cwd, signal }) {
      try {
        const context = { cwd, signal, folders: [cwd, ...folders], seen, background };
        return (await TOOLS.get(name)?.preview(input, context)) ?? {};
      } catch (error) {
        if (isToolFailure(error)) return { refusal: messageOf(error) };
        throw error;
      }
    },
    async call({ name, input }, context) {
      const tool = TOOLS.get(name);
      if (tool === undefined) return { outcome: "failed", text: `there is no tool "${name}"` };
      const toolContext = { env, folders: [context.cwd, ...folders], seen, background };
      try {
        return await tool.run(input, { ...context, ...toolContext });
      } catch (error) {
        if (isToolFailure(error)) return { outcome: "failed", text: messageOf(error) };
        if (context.signal.aborted && error === context.signal.reason) return CANCELLED;
        if (context.signal.aborted && (error as Error).name === "AbortError") return CANCELLED;
        throw error; // a broken log or a defect is not an outcome of the tool
      }
    },
    [Symbol.asyncDispose]: () => background[Symbol.asyncDispose](),
  };
}

const CANCELLED = { outcome: "cancelled" as const, text: "[cancelled]" };

function createToolSpec(tool: CodingTool): ToolSpec {
  const { name, description, kind, readOnly, repeatable, concurrent, timeoutMs, input } = tool;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input) as Record<string, unknown>;
  return { name, description, kind, readOnly, repeatable, concurrent, timeoutMs, inputSchema };
}

function isToolFailure(error: unknown): boolean {
  if (error instanceof ToolRefusal || error instanceof PathRefusal) return true;
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
