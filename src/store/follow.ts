/** Following a log: pages while there are some, then waiting, until someone ends it. */
import type { EventPage, FollowQuery, SessionEvent } from "../domain/index.ts";

/** Small enough to be read quickly, large enough that reading a long log is not a query per event. */
const FOLLOW_PAGE = 500;

export interface Followed {
  /** Rejects with `session_not_found`. */
  read(query: { sessionId: string; after: number; limit: number }): Promise<EventPage>;
  /** Resolves when there may be more, or when the signal fires. */
  grown(sessionId: string, after: number, signal: AbortSignal): Promise<void>;
  /** Someone began to follow; what it returns is called when they end. */
  joined(): () => void;
  /** Fires when the store is closed: every follower then ends quietly. */
  readonly closed: AbortSignal;
}

/** A page is read only when the consumer asks for what is in it; ending is quiet, also while a `next()` is pending. */
export function follow(log: Followed, query: FollowQuery): AsyncIterable<SessionEvent> {
  return {
    [Symbol.asyncIterator]() {
      const over = new AbortController();
      const events = walk(log, query, over);
      return {
        next: () => events.next(),
        return: () => {
          over.abort(); // a generator's own return() would wait for the pending next(), and so for an event
          return events.return(undefined);
        },
      };
    },
  };
}

async function* walk(
  log: Followed,
  { sessionId, after, signal }: FollowQuery,
  over: AbortController,
): AsyncGenerator<SessionEvent, undefined> {
  // Not AbortSignal.any: on Node 20 a signal that lives as long as the store remembers every one made from it.
  const end = () => over.abort();
  const causes = [log.closed, ...(signal === undefined ? [] : [signal])];
  if (causes.some(({ aborted }) => aborted)) return undefined;
  for (const cause of causes) cause.addEventListener("abort", end);
  const leave = log.joined();
  try {
    for (let cursor = after; !over.signal.aborted;) {
      const { events } = await log.read({ sessionId, after: cursor, limit: FOLLOW_PAGE });
      for (const event of events) {
        if (over.signal.aborted) return undefined;
        yield event;
        cursor = event.seq;
      }
      if (events.length === 0) await log.grown(sessionId, cursor, over.signal);
    }
  } catch (error) {
    if (!over.signal.aborted) throw error; // a read that was under way when the store was closed
  } finally {
    leave();
    for (const cause of causes) cause.removeEventListener("abort", end);
  }
  return undefined;
}
