/** What is shown of a child in its parent while it works: a line for each thing that a person may want to know. */
import type { SessionEvent } from "../../domain/index.ts";

export function progressOf(
  { id, title }: { readonly id: string; readonly title: string },
  event: SessionEvent,
): string | undefined {
  const words = wordsOf(id, event);
  return words === undefined ? undefined : `${title}: ${words}\n`;
}

function wordsOf(id: string, event: SessionEvent): string | undefined {
  switch (event.type) {
    case "turn.started":
      return `works in ${id}`;
    case "tool.started":
      return event.title;
    case "permission.requested":
      return `${id} waits for an answer: ${event.requestId} ${event.title}`;
    case "question.asked":
      return `${id} waits for an answer: ${event.requestId} ${event.message}`;
    case "turn.parked":
      return `waits until ${event.until}: ${event.message}`;
    case "turn.ended":
      return event.outcome.status;
    default: // its own log has the rest
      return undefined;
  }
}
