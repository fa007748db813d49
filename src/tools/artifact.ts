/** What an agent can do at one moment: the catalog, what the model is told of it, and the way to call it, from one reading. */
import {
  messageOf,
  type PromptContribution,
  type ToolCall,
  type ToolContext,
  type ToolDescription,
  type ToolResult,
  type ToolSpec,
} from "../domain/index.ts";
import { nearest } from "../stdx/index.ts";
import { CALL, parted, searchAndCall, unwrapped } from "./discovery.ts";
import type { Hooks } from "./hooks.ts";
import { renderPreamble } from "./prompt.ts";
import type { OnNotice } from "./plugin.ts";
import { checkedContext, checkedDescription } from "./checked.ts";
import { checkedResult } from "./result.ts";
import type { Bound } from "./source.ts";

export interface CatalogKey {
  readonly includeBase: boolean;
  readonly overlayRevision: number;
  readonly generation: number;
  /** (id, version, revision) of every plugin, in order. */
  readonly pluginRevision: string;
}

/** Never changes. A call of a tool that went away since still goes to its source, which says so. */
export interface Artifact {
  readonly key: CatalogKey;
  /** Everything that can be called, also what is only found by searching. */
  readonly catalog: ReadonlyMap<string, ToolSpec>;
  /** The prompt contributions, as text. */
  readonly preamble: string;
  /** What a model is told: without deferred tools, and with the search-and-call pair where there are some. */
  readonly definitions: readonly ToolSpec[];
  /** Never throws. */
  describe(call: ToolCall): ToolDescription;
  /** Asks the plugins; runs nothing. Rejects with the signal's reason when it fires, and for nothing else. */
  prepare(call: ToolCall, options: { readonly signal: AbortSignal }): Promise<PreparedCall>;
}

/** What came of looking at a call: plugins have seen it, and one through the search-and-call pair is the real one. */
export type PreparedCall = RunnableCall | SettledCall;

export interface RunnableCall {
  readonly kind: "run";
  readonly spec: ToolSpec;
  /** With the arguments that plugins replaced. */
  readonly call: ToolCall;
  readonly description: ToolDescription;
  /** With what plugins made of the result. Rejects only where the context did: a broken log is nobody's outcome. */
  run(context: ToolContext): Promise<ToolResult>;
}

/** An unknown tool, or one that a plugin refused or answered for. */
export interface SettledCall {
  readonly kind: "settled";
  readonly spec: ToolSpec | undefined;
  readonly call: ToolCall;
  readonly description: ToolDescription;
  readonly result: ToolResult;
}

export interface Reading {
  readonly key: CatalogKey;
  readonly tools: readonly Bound[];
  readonly contributions: readonly PromptContribution[];
  readonly deferOver: number;
  /** Tools that are switched off, with what is said to whoever calls one all the same. */
  readonly switchedOff?: ReadonlyMap<string, string> | undefined;
  readonly hooks: Hooks;
  readonly onNotice: OnNotice;
}

const NAMES_TOLD = 30;

export function makeArtifact(reading: Reading): Artifact {
  const { key, tools, contributions, deferOver, switchedOff, hooks, onNotice } = reading;
  const { told, deferred } = parted(tools, deferOver);
  const pair = deferred.length > 0 ? searchAndCall(deferred) : [];
  const bound = new Map<string, Bound>();
  const catalog = new Map<string, ToolSpec>();
  for (const tool of [...tools, ...pair]) {
    bound.set(tool.name, tool);
    catalog.set(tool.name, tool.spec);
  }
  const preamble = renderPreamble(contributions, catalog);
  if (preamble.leftOut.length > 0) {
    const message = `the prompt is too long; left out of it: ${preamble.leftOut.join(", ")}`;
    onNotice({ level: "warning", code: "prompt_left_out", message });
  }
  const real = (call: ToolCall) => (call.name === CALL && pair.length > 0 ? unwrapped(call) : call);
  return Object.freeze<Artifact>({
    key,
    catalog,
    preamble: preamble.text,
    definitions: [...told, ...pair].map(({ spec }) => spec),
    describe: (call) => {
      const its = real(call);
      return typeof its === "string" ? { title: call.name } : described(bound.get(its.name), its);
    },
    async prepare(given, { signal }) {
      signal.throwIfAborted();
      const call = real(given);
      if (typeof call === "string") return settled(given, bound.get(given.name), call);
      const tool = bound.get(call.name);
      return tool === undefined
        ? settled(call, undefined, switchedOff?.get(call.name) ?? unknown(call.name, bound))
        : asked(tool, call, hooks, signal);
    },
  });
}

async function asked(tool: Bound, given: ToolCall, hooks: Hooks, signal: AbortSignal): Promise<PreparedCall> {
  const { spec } = tool;
  const { call, refused, answer } = await hooks.before(given, spec, signal);
  const description = described(tool, call);
  if (refused !== undefined) {
    return { kind: "settled", spec, call, description, result: { outcome: "denied", text: refused } };
  }
  if (answer !== undefined) {
    const result = await hooks.after(call, spec, answer);
    return { kind: "settled", spec, call, description, result };
  }
  const run = async (context: ToolContext) => hooks.after(call, spec, await called(tool, call, context));
  return { kind: "run", spec, call, description, run };
}

/** A tool that throws has failed; a log that broke under it has not, and is told to whoever asked for the call. */
async function called({ source }: Bound, call: ToolCall, context: ToolContext): Promise<ToolResult> {
  const broken: unknown[] = [];
  const watched = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      broken.push(error);
      throw error;
    }
  };
  try {
    const { call: callOther } = context;
    const watching: ToolContext = {
      ...context,
      ...(callOther !== undefined && { call: (name, input) => watched(callOther(name, input)) }),
      record: (body) => watched(context.record(body)),
      putBlob: (bytes) => watched(context.putBlob(bytes)),
      getBlob: (hash) => watched(context.getBlob(hash)),
    };
    return checkedResult(await source.call(call, checkedContext(watching)));
  } catch (error) {
    if (broken.includes(error)) throw error;
    if (context.signal.aborted) return { outcome: "cancelled", text: `${call.name} was cancelled` };
    return { outcome: "failed", text: `${call.name} of ${source.id} failed: ${messageOf(error)}` };
  }
}

function settled(call: ToolCall, tool: Bound | undefined, text: string): SettledCall {
  const result = { outcome: "failed", text } as const;
  return { kind: "settled", spec: tool?.spec, call, description: { title: call.name }, result };
}

function described(tool: Bound | undefined, call: ToolCall): ToolDescription {
  const fallback = tool?.spec.title ?? call.name;
  try {
    return checkedDescription(tool?.source.describe(call), fallback);
  } catch {
    return { title: fallback }; // for people only; the call itself will say what is wrong
  }
}

function unknown(name: string, tools: ReadonlyMap<string, unknown>): string {
  const names = [...tools.keys()];
  const near = nearest(name, names);
  const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
  const known = names.slice(0, NAMES_TOLD).join(", ");
  const more = names.length > NAMES_TOLD ? ` and ${names.length - NAMES_TOLD} more` : "";
  return `there is no tool "${name.slice(0, 100)}"${meant}; there are: ${known}${more}`;
}
