/** Formats an event of a task or of its sessions as one line. */
import type { SessionEvent } from "../../domain/events.ts";
import { formatEventLine as sessionLine, formatLine } from "../sessions/event-line.ts";
import type { LoggedEvent } from "./service.ts";
import { formatTaskEvent, isTaskEvent } from "./messages.ts";

/** The line starts with the position in the feed, which `--after` takes. */
export function formatLogLine({ position, event }: LoggedEvent, stages: readonly string[]): string {
  if (isTaskEvent(event)) return formatLine({ ...event, seq: position }, formatTaskEvent(event, stages));
  const placed: SessionEvent = { ...event, seq: position };
  return sessionLine(placed);
}
