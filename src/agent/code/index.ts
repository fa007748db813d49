/** The tool that runs a program of the model, in which the agent's other tools are functions. */
import { z } from "zod";
import type { ToolContext, ToolResult, ToolSource, ToolSpec } from "../../domain/index.ts";
import { CODE_LIMITS, MOST_SOURCE, type CodeLimits } from "./limits.ts";
import { quickjs, workerFile } from "./place.ts";
import { runProgram, type Ran } from "./run.ts";

export { type CodeLimits } from "./limits.ts";

export interface CodeToolOptions {
  /** What is not said is as usual. */
  readonly limits?: Partial<CodeLimits> | undefined;
  /** The file of the thread, for tests. */
  readonly file?: string | undefined;
}

export const CODE = "code";
/**
 * A program calls no program: one is enough, and its limits would mean nothing. It asks nobody and starts no agents: a
 * model that wants to can do so in its own words, where the limits and the person's attention are its own. The pair for
 * searching is for models: in a program every tool is a function.
 */
const NOT_CALLED: ReadonlySet<string> = new Set([CODE, "ask", "delegate", "search_tools", "call_tool"]);
const MOST_TOOLS = 5_000;
const TITLE = 60;

const Input = z.lazy(() => z.object({ code: z.string().min(1).max(MOST_SOURCE) }));

/** What a model is told that calls it where it is switched off. */
export function codeIsOff(agent: string): ReadonlyMap<string, string> {
  return new Map([
    [CODE, `code execution is not available in this session: set code = true under [agents.${agent}] in rookery.toml`],
  ]);
}

/** A program sees the tools of its turn (`ToolContext.catalog`): what it sees, it can call. */
export function codeTool({ limits, file }: CodeToolOptions = {}): ToolSource {
  const its = { ...CODE_LIMITS, ...limits };
  const list = [specOf(its)];
  return {
    id: CODE,
    list: () => list,
    describe: ({ input }) => ({ title: titleOf(input) }),
    call: async ({ toolId, input }, context) => {
      const parsed = Input.safeParse(input);
      if (!parsed.success) return failed(`code: ${z.prettifyError(parsed.error)}`);
      const specs = new Map<string, ToolSpec>();
      for (const spec of context.catalog?.values() ?? []) {
        if (!NOT_CALLED.has(spec.name) && specs.size < MOST_TOOLS) specs.set(spec.name, spec);
      }
      return run(parsed.data.code, { toolId, specs, limits: its, context, file });
    },
  };
}

interface Run {
  readonly toolId: string;
  readonly specs: ReadonlyMap<string, ToolSpec>;
  readonly limits: CodeLimits;
  readonly context: ToolContext;
  readonly file: string | undefined;
}

/** QuickJS is loaded in the thread, so only where a program is run. */
async function run(code: string, { toolId, specs, limits, context, file }: Run): Promise<ToolResult> {
  const worker = workerFile();
  if (worker === undefined) return failed("code execution is not available: Rookery's agent/code-worker.js is missing");
  const { signal } = context;
  try {
    const call = context.call ?? nobodyCalls;
    const printed = (text: string): void => context.progress(text);
    const means = { file: file ?? worker, quickjs: await quickjs(worker) };
    return resultOf(await runProgram({ code, seed: toolId, specs, limits, ...means, signal, call, printed }));
  } catch (error) {
    if (signal.aborted) return { outcome: "cancelled", text: "the program was cancelled" };
    throw error;
  }
}

function nobodyCalls(name: string): Promise<ToolResult> {
  return Promise.resolve(failed(`${name} cannot be called by a program here: nobody does it`));
}

function resultOf({ ending, output, unprinted, calls }: Ran): ToolResult {
  const more = unprinted > 0 ? `\n[${unprinted} more characters were printed and are left out]\n` : "";
  const printed = output + more;
  if (ending.kind === "failed") {
    return failed(`${printed}${ending.words}${made(calls)}`);
  }
  const { value, more: cut = 0 } = ending;
  if (value === undefined) return { outcome: "ok", text: printed || "[the program printed and returned nothing]" };
  return { outcome: "ok", text: `${printed}=> ${value}${cut > 0 ? `\n[${cut} more characters are left out]` : ""}` };
}

function made(calls: number): string {
  if (calls === 0) return "";
  if (calls === 1) return "\n[1 call of a tool was made before that; what it did is done]";
  return `\n[${calls} calls of tools were made before that; what they did is done]`;
}

function failed(text: string): ToolResult {
  return { outcome: "failed", text };
}

function titleOf(input: unknown): string {
  const parsed = Input.safeParse(input);
  const [first = ""] = parsed.success ? parsed.data.code.trim().split("\n", 1) : [];
  return first === "" ? "Run a program" : `Run a program: ${first.slice(0, TITLE).toWellFormed()}`;
}

/**
 * It changes nothing by itself, and so nobody is asked for it: every call that it makes is asked for as if the model had
 * made it. The other tools' arguments are not told again: the model knows them, and what never changes can be cached.
 */
function specOf({ timeMs, totalMs, calls, output }: CodeLimits): ToolSpec {
  return {
    name: CODE,
    title: "Run a program",
    description: `Runs a JavaScript program in which your other tools are functions; use it where many calls, a loop or \
much output in between would be slow one by one. \`await tools.NAME({ ... })\` takes the arguments of the tool NAME \
(\`tools["a-b"]\` for other names) and resolves to \`{ outcome, text, structured }\`, also where the call failed or was \
denied: look at \`outcome\` ("ok", "failed", "denied", "cancelled", "unknown"). \`Promise.all\` runs calls at once; results \
come in the order of the calls. You see what \`console.log\` printed and the value of the last expression, or what is \
returned, as JSON. There is no network, file, module, timer, clock or chance but through tools: the program must do \
the same if it is run again. At most ${calls} calls, ${timeMs / 1_000} s of computing, ${output} characters of output. \
Not callable from it: ${[...NOT_CALLED].slice(0, 3).join(", ")}.`,
    inputSchema: {
      type: "object",
      properties: { code: { type: "string", description: "JavaScript; may use await and return at its top level." } },
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
