/** Formats a child's events as progress lines for its parent. */
import type { SessionEvent } from "../../domain/index.ts";

export function formatChildProgress(
  { id, title }: { readonly id: string; readonly title: string },
  event: SessionEvent,
): string | undefined {
  const description = describeChildEvent(id, event);
  return description === undefined ? undefined : `${title}: ${description}\n`;
}

function describeChildEvent(id: string, event: SessionEvent): string | undefined {
  switch (event.type) {
    case "turn.started":
      return `running in ${id}`;
    case "tool.started":
      return event.title;
    case "permission.requested":
      return `${id} is waiting for an answer: ${event.requestId} ${event.title}`;
    case "question.asked":
      return `${id} is waiting for an answer: ${event.requestId} ${event.message}`;
    case "turn.parked":
      return `waiting until ${event.until}: ${event.message}`;
    case "turn.ended":
      return event.outcome.status;
    default: // the child's own log has the other events
      return undefined;
  }
}
