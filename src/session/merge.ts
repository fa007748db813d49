/** Merges pending deltas of one message into one event. Readers see the same text in fewer events. */
import type { EventBody, EventDraft } from "../domain/index.ts";

/** The maximum length of a merged event, so that readers still see text as it arrives. */
const MERGED_LENGTH = 16_384;

/** Appends the text of `next` to the previous draft if both belong to one text. Returns whether it did. */
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
    default: // all other events stay separate
      return false;
  }
}

function join(draft: { text: string }, more: string): boolean {
  if (draft.text.length + more.length > MERGED_LENGTH) return false;
  draft.text += more;
  return true;
}
