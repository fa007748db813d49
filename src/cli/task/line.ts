/** One event of a task or of its sessions as one line, for people who read a log. */
import type { SessionEvent } from "../../domain/events.ts";
import { lineOf as sessionLine, lineWith } from "../sessions/line.ts";
import type { Logged } from "./door.ts";
import { detailOf, isTaskEvent } from "./words.ts";

/** With its position in the feed: what `--after` takes. */
export function lineOf({ position, event }: Logged, stages: readonly string[]): string {
  if (isTaskEvent(event)) return lineWith({ ...event, seq: position }, detailOf(event, stages));
  const placed: SessionEvent = { ...event, seq: position };
  return sessionLine(placed);
}
