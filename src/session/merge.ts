/** Deltas of one message that wait together become one event: readers see the same text in fewer events. */
import type { EventBody, EventDraft } from "../domain/index.ts";

/** A merged event stays small enough to be shown as it comes. */
const MERGED_LENGTH = 16_384;

/** Adds `next` to the draft before it, if both are pieces of one text; tells whether it did. */
export function mergeInto(
  last: EventDraft | undefined,
  next: EventBody,
  { turnId, agent }: Pick<EventDraft, "turnId" | "agent">,
): boolean {
  if (last === undefined || last.turnId !== turnId || last.agent !== agent) return false;
  switch (last.type) {
    case "message.delta":
    case "thought.delta":
      if (next.type !== last.type || next.messageId !== last.messageId) return false;
      return join(last, next.text);
    case "output.text":
      return next.type === "output.text" && next.from === last.from && join(last, next.text);
    case "tool.updated":
      if (next.type !== "tool.updated" || next.toolId !== last.toolId) return false;
      if (next.text === undefined || next.title !== undefined || next.locations !== undefined) return false;
      return last.text !== undefined && join(last as { text: string }, next.text);
    default: // everything else is a fact of its own
      return false;
  }
}

function join(draft: { text: string }, more: string): boolean {
  if (draft.text.length + more.length > MERGED_LENGTH) return false;
  draft.text += more;
  return true;
}
