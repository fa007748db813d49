/** Completes a scripted reply with the defaults of all omitted fields. */

import type { ScriptedReply, StopReason, ScriptedUsage } from "./script.ts";

export interface ModelAnswer {
  readonly thinking: readonly string[];
  readonly text: readonly string[];
  readonly toolCalls: readonly ModelAnswerCall[];
  readonly usage: Required<ScriptedUsage>;
  readonly stopReason: StopReason;
}

export interface ModelAnswerCall {
  /** Default: the wire creates an id in its format. */
  readonly id: string | undefined;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly input: unknown;
  /** The JSON of the input in a few pieces, split at arbitrary positions as the real APIs do. */
  readonly pieces: readonly string[];
}

const DEFAULT_USAGE: ScriptedUsage = { input: 100, output: 20 };
const PIECES = 3;

export function completeReply(reply: ScriptedReply): ModelAnswer {
  const toolCalls = (reply.toolCalls ?? []).map(({ id, name, namespace, input, written }) => {
    return {
      id,
      name,
      namespace,
      input: written ?? input,
      pieces: cutInPieces(written ?? JSON.stringify(input ?? {})),
    };
  });
  return {
    thinking: toChunks(reply.thinking),
    text: toChunks(reply.text),
    toolCalls,
    usage: { cacheRead: 0, cacheWrite: 0, reasoning: 0, ...(reply.usage ?? DEFAULT_USAGE) },
    stopReason: reply.stopReason ?? (toolCalls.length > 0 ? "tool_calls" : "end"),
  };
}

function toChunks(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined || text === "") return [];
  return typeof text === "string" ? [text] : text;
}

function cutInPieces(json: string): string[] {
  const size = Math.max(1, Math.ceil(json.length / PIECES));
  return Array.from({ length: Math.ceil(json.length / size) }, (_, at) => json.slice(at * size, (at + 1) * size));
}
