/** The script of a model: its replies, and functions that create them. */

import type { Fault, StatusFault, StreamFault, StreamFaultKind } from "./faults.ts";
import type { ModelRequest } from "./request.ts";

/** Replies in order, or a function that gets each request and its index (from 0). */
export type ModelScript =
  readonly ScriptedReply[] | ((request: ModelRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

/** One reply of the model. Its parts are sent in this order: thinking, text, tool calls. */
export interface ScriptedReply {
  /** Sent even if the request did not enable thinking. A list is sent as separate chunks. */
  readonly thinking?: string | readonly string[];
  /** A list is sent as separate chunks. */
  readonly text?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedCall[];
  readonly usage?: ScriptedUsage;
  /** Default: `tool_calls` if there are any, else `end`. */
  readonly stopReason?: StopReason;
  readonly firstByteDelayMs?: number;
  /** The delay before each event except the first. Default: 0. */
  readonly chunkDelayMs?: number;
  readonly fault?: Fault;
}

export interface ScriptedCall {
  readonly name: string;
  readonly input: unknown;
  /** Raw arguments, which may be invalid JSON. Default: the JSON of `input`. Gemini sends them as a string. */
  readonly written?: string;
  /** Default: created from the numbers of the reply and the call. */
  readonly id?: string;
  /** Only for the Responses API: the group of the tool, as Codex groups the tools of an MCP server. */
  readonly namespace?: string;
}

/** Token counts. `input` includes cache reads and writes; `output` includes reasoning. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

export type StopReason = "end" | "tool_calls" | "max_tokens" | "refusal";

/** Creates a reply with text that ends the turn. */
export function say(text: string | readonly string[], more: Omit<ScriptedReply, "text"> = {}): ScriptedReply {
  return { ...more, text };
}

/** Creates a reply that calls one tool. */
export function call(name: string, input: unknown = {}, more: Omit<ScriptedReply, "toolCalls"> = {}): ScriptedReply {
  return { ...more, toolCalls: [{ name, input }] };
}

/** Creates a reply that calls several tools. */
export function calls(toolCalls: readonly ScriptedCall[], more: Omit<ScriptedReply, "toolCalls"> = {}): ScriptedReply {
  return { ...more, toolCalls };
}

type Scripted = Omit<ScriptedReply, "fault">;

/** Creates a reply that fails, with an HTTP status or during the stream. For a stream fault, `details` may contain a reply. */
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

/** Returns the reply to the request with this index, or undefined if the list has no more. */
export async function replyAt(
  script: ModelScript,
  request: ModelRequest,
  index: number,
): Promise<ScriptedReply | undefined> {
  return typeof script === "function" ? script(request, index) : script[index];
}
