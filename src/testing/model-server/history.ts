/** Checks that each tool call in a conversation has its result, as every real API does. */

import type { ModelMessage } from "./request.ts";

export interface UnpairedCalls {
  /** Calls without a result before the next message of the model. */
  readonly unanswered: readonly string[];
  /** Results of calls that the model did not just make. */
  readonly unexpected: readonly string[];
}

/** Returns ids, or names for a wire that may omit ids (Gemini). */
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
