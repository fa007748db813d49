/** The `code` tool: runs a program that the model wrote, in which the agent's other tools are functions. */
import { z } from "zod";
import type { ToolContext, ToolResult, ToolSource, ToolSpec } from "../../domain/index.ts";
import { CODE_LIMITS, MAX_SOURCE_LENGTH, type CodeLimits } from "./code-limits.ts";
import { loadQuickJs, findWorkerFile } from "./worker-file.ts";
import { runProgram, type ProgramResult } from "./run-program.ts";

export { type CodeLimits } from "./code-limits.ts";

export interface CodeToolOptions {
  /** Missing limits have their defaults from `CODE_LIMITS`. */
  readonly limits?: Partial<CodeLimits> | undefined;
  /** The file of the worker thread. For tests. */
  readonly file?: string | undefined;
}

export const CODE_TOOL_NAME = "code";
/**
 * Tools that a program cannot call. A nested program would evade the limits. Questions to the user and sub-agents must
 * come from the model itself. The two search tools exist only for models: in a program every tool is a function.
 */
const EXCLUDED_TOOLS: ReadonlySet<string> = new Set([CODE_TOOL_NAME, "ask", "delegate", "search_tools", "call_tool"]);
const MAX_TOOLS = 5_000;
const MAX_TITLE_LENGTH = 60;

const Input = z.lazy(() => z.object({ code: z.string().min(1).max(MAX_SOURCE_LENGTH) }));

/** Returns the message for a model that calls the tool although it is disabled, by tool name. */
export function describeDisabledCode(agent: string): ReadonlyMap<string, string> {
  return new Map([
    [
      CODE_TOOL_NAME,
      `code execution is disabled in this session: set code = true under [agents.${agent}] in rookery.toml`,
    ],
  ]);
}

/** A program can call the tools of its turn (`ToolContext.catalog`). */
export function createCodeTool({ limits, file }: CodeToolOptions = {}): ToolSource {
  const merged = { ...CODE_LIMITS, ...limits };
  const list = [createCodeSpec(merged)];
  return {
    id: CODE_TOOL_NAME,
    list: () => list,
    describe: ({ input }) => ({ title: makeCodeTitle(input) }),
    call: async ({ toolId, input }, context) => {
      const parsed = Input.safeParse(input);
      if (!parsed.success) return failedCode(`code: ${z.prettifyError(parsed.error)}`);
      const specs = new Map<string, ToolSpec>();
      for (const spec of context.catalog?.values() ?? []) {
        if (!EXCLUDED_TOOLS.has(spec.name) && specs.size < MAX_TOOLS) specs.set(spec.name, spec);
      }
      return runCode(parsed.data.code, { toolId, specs, limits: merged, context, file });
    },
  };
}

interface CodeRun {
  readonly toolId: string;
  readonly specs: ReadonlyMap<string, ToolSpec>;
  readonly limits: CodeLimits;
  readonly context: ToolContext;
  readonly file: string | undefined;
}

/** QuickJS is loaded only when a program runs. */
async function runCode(code: string, { toolId, specs, limits, context, file }: CodeRun): Promise<ToolResult> {
  const worker = findWorkerFile();
  if (worker === undefined)
    return failedCode(
      "code execution is not available: the file agent/code-worker.js of Rookery is missing; reinstall Rookery",
    );
  const { signal } = context;
  try {
    const call = context.call ?? rejectCall;
    const onPrint = (text: string): void => context.progress(text);
    const runtime = { file: file ?? worker, quickjs: await loadQuickJs(worker) };
    return createCodeResult(await runProgram({ code, seed: toolId, specs, limits, ...runtime, signal, call, onPrint }));
  } catch (error) {
    if (signal.aborted) return { outcome: "cancelled", text: "the program was cancelled" };
    throw error;
  }
}

function rejectCall(name: string): Promise<ToolResult> {
  return Promise.resolve(failedCode(`a program cannot call ${name} here: this session runs no calls for programs`));
}

function createCodeResult({ ending, output, unprinted, calls }: ProgramResult): ToolResult {
  const more = unprinted > 0 ? `\n[${unprinted} more characters of output omitted]\n` : "";
  const printed = output + more;
  if (ending.kind === "failed") {
    return failedCode(`${printed}${ending.message}${formatCallCount(calls)}`);
  }
  const { value, more: cut = 0 } = ending;
  if (value === undefined) return { outcome: "ok", text: printed || "[the program printed and returned nothing]" };
  return { outcome: "ok", text: `${printed}=> ${value}${cut > 0 ? `\n[${cut} more characters omitted]` : ""}` };
}

function formatCallCount(calls: number): string {
  if (calls === 0) return "";
  if (calls === 1) return "\n[1 tool call was made before; its effects remain]";
  return `\n[${calls} tool calls were made before; their effects remain]`;
}

function failedCode(text: string): ToolResult {
  return { outcome: "failed", text };
}

function makeCodeTitle(input: unknown): string {
  const parsed = Input.safeParse(input);
  const [first = ""] = parsed.success ? parsed.data.code.trim().split("\n", 1) : [];
  return first === "" ? "Run a program" : `Run a program: ${first.slice(0, MAX_TITLE_LENGTH).toWellFormed()}`;
}

/**
 * The tool changes nothing itself, so it needs no permission: each of its calls asks as if the model had made it. The
 * description does not repeat the arguments of other tools, because the model knows them, and a constant description
 * can be cached.
 */
function createCodeSpec({ timeMs, totalMs, calls, output }: CodeLimits): ToolSpec {
  return {
    name: CODE_TOOL_NAME,
    title: "Run a program",
    description: `Runs a JavaScript program in which your other tools are functions. Use it for many calls, loops, or large \
intermediate output. \`await tools.NAME({ ... })\` takes the arguments of the tool NAME (\`tools["a-b"]\` for other names) \
and resolves to \`{ outcome, text, structured }\`, even if the call failed or was denied: check \`outcome\` ("ok", "failed", \
"denied", "cancelled", "unknown"). \`Promise.all\` runs calls concurrently; results arrive in the order of the calls. You \
get the output of \`console.log\` and the value of the last expression, or the returned value, as JSON. Without tools there \
is no network, file, module, timer, clock or randomness: the program must behave the same if it runs again. At most \
${calls} calls, ${timeMs / 1_000} s of CPU time, ${output} characters of output. Cannot be called from a program: ${[...EXCLUDED_TOOLS].slice(0, 3).join(", ")}.`,
    inputSchema: {
      type: "object",
      properties: { code: { type: "string", description: "JavaScript. May use await and return at the top level." } },
      required: ["code"],
      additionalProperties: false,
    },
    kind: "execute",
    readOnly: true,
    repeatable: true,
    concurrent: false,
    timeoutMs: totalMs,
  };
}
