/** Runs test programs in real threads, with tools that record their calls. */
import type { ToolContext, ToolResult, ToolSpec } from "../../domain/index.ts";
import { createCodeTool, type CodeLimits } from "./index.ts";

export interface PlayOptions {
  readonly tools?: Readonly<Record<string, (input: Record<string, unknown>) => Promise<ToolResult> | ToolResult>>;
  /** Names of tools that must run alone. */
  readonly alone?: readonly string[];
  readonly limits?: Partial<CodeLimits>;
  readonly signal?: AbortSignal;
  readonly toolId?: string;
  readonly file?: string;
}

export interface PlayedProgram extends ToolResult {
  /** The calls in the order of their starts. */
  readonly calls: readonly string[];
  readonly progress: string;
}

export const ok = (text: string, structured?: unknown): ToolResult => ({ outcome: "ok", text, structured });

export async function runTestProgram(code: unknown, scene: PlayOptions = {}): Promise<PlayedProgram> {
  const { tools = {}, alone = [], limits, signal = new AbortController().signal, toolId = "t1", file } = scene;
  const calls: string[] = [];
  let progress = "";
  const names = [...Object.keys(tools), "code", "ask"];
  const source = createCodeTool({ limits, file });
  const context: ToolContext = {
    cwd: "/",
    marker: "",
    signal,
    record: () => Promise.resolve(),
    progress: (text) => void (progress += text),
    ask: () => Promise.resolve({ action: "decline" }),
    putBlob: () => Promise.resolve(""),
    getBlob: () => Promise.resolve(undefined),
    catalog: new Map(names.map((name) => [name, createSpec(name, alone)])),
    call: async (name, input) => {
      calls.push(`${name} ${JSON.stringify(input)}`);
      const tool = tools[name];
      return tool === undefined ? { outcome: "failed", text: `no ${name}` } : tool(input as Record<string, unknown>);
    },
  };
  const result = await source.call({ toolId, name: "code", input: { code } }, context);
  return { ...result, calls, progress };
}

function createSpec(name: string, alone: readonly string[]): ToolSpec {
  return { name, description: "", inputSchema: {}, kind: "other", readOnly: !alone.includes(name) };
}
