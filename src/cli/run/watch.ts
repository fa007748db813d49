/** Calls `show` once for each event of a session after a cursor, including the last ones. */
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import { readSessionEvents } from "../sessions/read-events.ts";

/** Disposing shows the remaining events of the log and stops. It rejects if reading or showing fails. */
export function watchSessionLog(
  store: SessionStore,
  { sessionId, after }: { sessionId: string; after: number },
  show: (event: SessionEvent) => Promise<void>,
): AsyncDisposable {
  const stop = new AbortController();
  let shown = after;
  const take = async (event: SessionEvent): Promise<void> => {
    await show(event);
    shown = event.seq;
  };
  const follow = async (): Promise<void> => {
    for await (const event of store.follow({ sessionId, after, signal: stop.signal })) await take(event);
  };
  const following = follow();
  following.catch(() => undefined); // disposing rejects with it

  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
      for await (const event of readSessionEvents(store, sessionId, shown)) await take(event);
    },
  };
}
