/** What a scripted model answers: replies, and the small words that make a list of them readable. */

import type { Fault, StatusFault, StreamFault, StreamFaultKind } from "./faults.ts";
import type { ModelRequest } from "./request.ts";

/** Replies in order, or a function that sees each request and its number (from 0). */
export type ModelScript =
  readonly ScriptedReply[] | ((request: ModelRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

/** One answer of the model. Its parts are sent in this order: thinking, text, tool calls. */
export interface ScriptedReply {
  /** Sent whether or not the request asked for thinking; a list is sent in these pieces. */
  readonly thinking?: string | readonly string[];
  /** A list is sent in these pieces. */
  readonly text?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedCall[];
  readonly usage?: ScriptedUsage;
  /** Left out: `tool_calls` when there are any, otherwise `end`. */
  readonly stopReason?: StopReason;
  readonly firstByteDelayMs?: number;
  /** Waited before each event but the first. */
  readonly chunkDelayMs?: number;
  readonly fault?: Fault;
}

export interface ScriptedCall {
  readonly name: string;
  readonly input: unknown;
  /** Instead of the JSON of the input: what a model wrote that may be none. Gemini, which sends no text, sends it as a string. */
  readonly written?: string;
  /** Left out: made from the number of the reply and of the call. */
  readonly id?: string;
  /** The Responses API alone: the group that the tool was offered in, as Codex offers those of an MCP server. */
  readonly namespace?: string;
}

/** Tokens. `input` includes what was read from and written to the cache, `output` includes reasoning. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

export type StopReason = "end" | "tool_calls" | "max_tokens" | "refusal";

/** The model says something and ends its turn. */
export function say(text: string | readonly string[], more: Omit<ScriptedReply, "text"> = {}): ScriptedReply {
  return { ...more, text };
}

/** The model calls one tool. */
export function call(name: string, input: unknown = {}, more: Omit<ScriptedReply, "toolCalls"> = {}): ScriptedReply {
  return { ...more, toolCalls: [{ name, input }] };
}

/** The model calls several tools at once. */
export function calls(toolCalls: readonly ScriptedCall[], more: Omit<ScriptedReply, "toolCalls"> = {}): ScriptedReply {
  return { ...more, toolCalls };
}

type Scripted = Omit<ScriptedReply, "fault">;

/** The model fails: with an HTTP status, or while it answers (what it answers meanwhile is given beside the fault). */
export function fault(status: number, details?: Omit<StatusFault, "kind" | "status">): ScriptedReply;
export function fault(kind: StreamFaultKind, details?: Omit<StreamFault, "kind"> & Scripted): ScriptedReply;
export function fault(
  what: number | StreamFaultKind,
  details: Omit<StatusFault, "kind" | "status"> & Omit<StreamFault, "kind"> & Scripted = {},
): ScriptedReply {
  if (typeof what === "number") return { fault: { ...details, kind: "status", status: what } };
  const { afterEvents, ...reply } = details;
  return { ...reply, fault: { kind: what, ...(afterEvents === undefined ? {} : { afterEvents }) } };
}

/** The reply to request number `index`; undefined when a list has none left. */
export async function replyAt(
  script: ModelScript,
  request: ModelRequest,
  index: number,
): Promise<ScriptedReply | undefined> {
  return typeof script === "function" ? script(request, index) : script[index];
}
