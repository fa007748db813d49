/** Yields the recorded events of a session. Does not wait for new ones. */
import type { SessionEvent } from "../../domain/events.ts";
import { MAX_PAGE, type SessionStore } from "../../domain/store.ts";

export async function* readSessionEvents(
  store: SessionStore,
  sessionId: string,
  start: number,
): AsyncIterable<SessionEvent> {
  for (let after = start; ;) {
    const { events } = await store.read({ sessionId, after, limit: MAX_PAGE });
    const last = events.at(-1);
    if (last === undefined) return;
    yield* events;
    after = last.seq;
  }
}
