/** One event of a task or of its sessions as one line, for people who read a log. */
import type { SessionEvent } from "../../domain/events.ts";
import { formatEventLine as sessionLine, formatLine } from "../sessions/event-line.ts";
import type { LoggedEvent } from "./service.ts";
import { formatTaskEvent, isTaskEvent } from "./messages.ts";

/** With its position in the feed: what `--after` takes. */
export function formatLogLine({ position, event }: LoggedEvent, stages: readonly string[]): string {
  if (isTaskEvent(event)) return formatLine({ ...event, seq: position }, formatTaskEvent(event, stages));
  const placed: SessionEvent = { ...event, seq: position };
  return sessionLine(placed);
}
