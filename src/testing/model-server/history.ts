/** Whether each tool call in a conversation has its result: what every real API checks before it answers. */

import type { ModelMessage } from "./request.ts";

export interface UnpairedCalls {
  /** Calls that had no result when the model was to speak again. */
  readonly unanswered: readonly string[];
  /** Results of calls that the model did not make just before. */
  readonly unexpected: readonly string[];
}

/** Ids; a wire that may leave them out (Gemini) is told by names. */
export function findUnpairedCalls(messages: readonly ModelMessage[]): UnpairedCalls {
  const unanswered: string[] = [];
  const unasked: string[] = [];
  const open: string[] = [];
  let answering = false;
  for (const { role, toolCalls, toolResults } of messages) {
    if (role === "assistant") {
      if (answering) unanswered.push(...open.splice(0));
      open.push(...toolCalls.map(({ id, name }) => id || name));
    }
    for (const { id, name } of toolResults) {
      const at = open.indexOf(id || name);
      if (at === -1) unasked.push(id || name);
      else open.splice(at, 1);
    }
    answering = role === "user";
  }
  return { unanswered: [...unanswered, ...open], unexpected: unasked };
}
