/** A snapshot of an agent's tools: the catalog, the definitions for the model, and the way to call them. */
import {
  messageOf,
  type CallPreview,
  type PromptContribution,
  type ToolCall,
  type ToolContext,
  type ToolDescription,
  type ToolResult,
  type ToolSpec,
} from "../domain/index.ts";
import { nearest } from "../stdx/index.ts";
import { CALL_TOOL, splitDeferred, makeDiscoveryTools, unwrapCallTool } from "./discovery.ts";
import type { PluginHooks } from "./hooks.ts";
import { renderPreamble } from "./prompt.ts";
import type { OnNotice } from "./plugin.ts";
import { validatePreview, validatingContext, sanitizeDescription } from "./validate-source.ts";
import { validateToolResult } from "./tool-result.ts";
import type { BoundTool } from "./bound-source.ts";

export interface CatalogKey {
  readonly includeBase: boolean;
  readonly overlayRevision: number;
  readonly generation: number;
  /** The id, version and revision of every plugin, in order. */
  readonly pluginRevision: string;
}

/** Immutable. A call to a tool that has been removed since still reaches its source, which reports the failure. */
export interface ToolSnapshot {
  readonly key: CatalogKey;
  /** All callable tools, including deferred ones. */
  readonly catalog: ReadonlyMap<string, ToolSpec>;
  /** The rendered prompt contributions. */
  readonly preamble: string;
  /** The definitions that the model receives: no deferred tools, but the search-and-call pair if tools are deferred. */
  readonly definitions: readonly ToolSpec[];
  /** Describes a call for people. Never throws. */
  describe(call: ToolCall): ToolDescription;
  /** Runs the `beforeCall` hooks without running the tool. Rejects only with the signal's reason, when it fires. */
  prepare(call: ToolCall, options: { readonly signal: AbortSignal }): Promise<PreparedCall>;
}

/** A call after the plugins' `beforeCall` hooks. A call through `call_tool` is replaced by the call that it names. */
export type PreparedCall = RunnableCall | SettledCall;

export interface RunnableCall {
  readonly kind: "run";
  readonly spec: ToolSpec;
  /** The call with any arguments that plugins replaced. */
  readonly call: ToolCall;
  readonly description: ToolDescription;
  /** Checks the call before a person is asked about it. Never rejects. */
  preview(context: Pick<ToolContext, "cwd" | "signal">): Promise<CallPreview>;
  /**
   * Runs the tool, then the `afterCall` hooks. Rejects only if the context rejects, for example because the log is
   * broken.
   */
  run(context: ToolContext): Promise<ToolResult>;
}

/** A call that needs no run: the tool is unknown, or a plugin refused or answered the call. */
export interface SettledCall {
  readonly kind: "settled";
  readonly spec: ToolSpec | undefined;
  readonly call: ToolCall;
  readonly description: ToolDescription;
  readonly result: ToolResult;
}

export interface ToolSnapshotParts {
  readonly key: CatalogKey;
  readonly tools: readonly BoundTool[];
  readonly contributions: readonly PromptContribution[];
  readonly deferOver: number;
  /** Disabled tools, with the message for a model that calls one. */
  readonly switchedOff?: ReadonlyMap<string, string> | undefined;
  readonly hooks: PluginHooks;
  readonly onNotice: OnNotice;
}

const MAX_LISTED_NAMES = 30;

export function createToolSnapshot(parts: ToolSnapshotParts): ToolSnapshot {
  const { key, tools, contributions, deferOver, switchedOff, hooks, onNotice } = parts;
  const { visible, deferred } = splitDeferred(tools, deferOver);
  const pair = deferred.length > 0 ? makeDiscoveryTools(deferred) : [];
  const bound = new Map<string, BoundTool>();
  const catalog = new Map<string, ToolSpec>();
  for (const tool of [...tools, ...pair]) {
    bound.set(tool.name, tool);
    catalog.set(tool.name, tool.spec);
  }
  const preamble = renderPreamble(contributions, catalog);
  if (preamble.leftOut.length > 0) {
    const message = `the prompt is too long; these sections are left out: ${preamble.leftOut.join(", ")}`;
    onNotice({ level: "warning", code: "prompt_left_out", message });
  }
  const resolveCall = (call: ToolCall) => (call.name === CALL_TOOL && pair.length > 0 ? unwrapCallTool(call) : call);
  return Object.freeze<ToolSnapshot>({
    key,
    catalog,
    preamble: preamble.text,
    definitions: [...visible, ...pair].map(({ spec }) => spec),
    describe: (call) => {
      const actual = resolveCall(call);
      return typeof actual === "string" ? { title: call.name } : describeCall(bound.get(actual.name), actual);
    },
    async prepare(given, { signal }) {
      signal.throwIfAborted();
      const call = resolveCall(given);
      if (typeof call === "string") return makeFailedCall(given, bound.get(given.name), call);
      const tool = bound.get(call.name);
      return tool === undefined
        ? makeFailedCall(call, undefined, switchedOff?.get(call.name) ?? formatUnknownTool(call.name, bound))
        : runBeforeHooks(tool, call, hooks, signal);
    },
  });
}

async function runBeforeHooks(
  tool: BoundTool,
  given: ToolCall,
  hooks: PluginHooks,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const { spec } = tool;
  const { call, refused, answer } = await hooks.before(given, spec, signal);
  const description = describeCall(tool, call);
  if (refused !== undefined) {
    return { kind: "settled", spec, call, description, result: { outcome: "denied", text: refused } };
  }
  if (answer !== undefined) {
    const result = await hooks.after(call, spec, answer);
    return { kind: "settled", spec, call, description, result };
  }
  const run = async (context: ToolContext) => hooks.after(call, spec, await invokeTool(tool, call, context));
  const preview: RunnableCall["preview"] = (context) => previewTool(tool, call, context);
  return { kind: "run", spec, call, description, preview, run };
}

async function previewTool(
  { source }: BoundTool,
  call: ToolCall,
  context: Pick<ToolContext, "cwd" | "signal">,
): Promise<CallPreview> {
  try {
    return validatePreview(await source.preview?.(call, context));
  } catch {
    return {}; // the call itself reports what is wrong
  }
}

/**
 * Runs the tool. An exception of the tool becomes a failed result; an error of the context (such as a broken log) is
 * rethrown.
 */
async function invokeTool({ source }: BoundTool, call: ToolCall, context: ToolContext): Promise<ToolResult> {
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
    return validateToolResult(await source.call(call, validatingContext(watching)));
  } catch (error) {
    if (broken.includes(error)) throw error;
    if (context.signal.aborted) return { outcome: "cancelled", text: `${call.name} was cancelled` };
    return { outcome: "failed", text: `${call.name} of ${source.id} failed: ${messageOf(error)}` };
  }
}

function makeFailedCall(call: ToolCall, tool: BoundTool | undefined, text: string): SettledCall {
  const result = { outcome: "failed", text } as const;
  return { kind: "settled", spec: tool?.spec, call, description: { title: call.name }, result };
}

function describeCall(tool: BoundTool | undefined, call: ToolCall): ToolDescription {
  const fallback = tool?.spec.title ?? call.name;
  try {
    return sanitizeDescription(tool?.source.describe(call), fallback);
  } catch {
    return { title: fallback }; // only a label; the call itself reports what is wrong
  }
}

function formatUnknownTool(name: string, tools: ReadonlyMap<string, unknown>): string {
  const names = [...tools.keys()];
  const near = nearest(name, names);
  const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
  const known = names.slice(0, MAX_LISTED_NAMES).join(", ");
  const more = names.length > MAX_LISTED_NAMES ? ` and ${names.length - MAX_LISTED_NAMES} more` : "";
  return `there is no tool "${name.slice(0, 100)}"${meant}; available tools: ${known}${more}`;
}
