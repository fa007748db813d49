/** Shows the events of a session after a cursor. */
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import { followWithRetry } from "../../session/store-retry.ts";
import { readSessionEvents } from "../sessions/read-events.ts";
import { watchEvents } from "../watch-events.ts";

export function watchSessionLog(
  store: SessionStore,
  { sessionId, after }: { sessionId: string; after: number },
  show: (event: SessionEvent) => Promise<void>,
): AsyncDisposable {
  return watchEvents<SessionEvent>({
    after,
    position: (event) => event.seq,
    follow: (signal) => followWithRetry(store, { sessionId, after, signal }),
    read: (from) => readSessionEvents(store, sessionId, from),
    show,
  });
}
