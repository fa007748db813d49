/** Reads the last part of a session's log, so that a long session opens as fast as a short one. */
import type { SessionEvent } from "../../../domain/events.ts";
import type { SessionStore } from "../../../domain/store.ts";

export interface LogTail {
  /** Oldest first. */
  readonly events: readonly SessionEvent[];
  /** True if the log has earlier events. */
  readonly isPartial: boolean;
}

const TAIL_EVENTS = 600;
const TAIL_BYTES = 2 * 1024 * 1024;

/** Starts with a turn if one starts in the last part. */
export async function readLogTail(store: SessionStore, sessionId: string): Promise<LogTail> {
  const page = await store.read({ sessionId, order: "newest_first", limit: TAIL_EVENTS, maxBytes: TAIL_BYTES });
  const events = page.events.toReversed();
  const isPartial = (events[0]?.seq ?? 1) > 1;
  if (!isPartial) return { events, isPartial };
  const first = events.findIndex(({ type }) => type === "turn.started");
  return { events: first === -1 ? events : events.slice(first), isPartial };
}
