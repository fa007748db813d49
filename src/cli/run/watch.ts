/** Reads a session's log from a point on and shows each event once, also those that come with the end. */
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import { deferred } from "../../stdx/deferred.ts";

export interface Watch extends AsyncDisposable {
  /** Resolves when the end of the turn was shown. Rejects where the log cannot be read, or showing fails. */
  shownEnd(turnId: string): Promise<void>;
}

/** Disposing shows what the log has by then, and stops. */
export function watchLog(
  store: SessionStore,
  { sessionId, after }: { sessionId: string; after: number },
  show: (event: SessionEvent) => Promise<void>,
): Watch {
  const stop = new AbortController();
  const ends = new Set<string>();
  const progress = { seq: after, moved: deferred() };

  const take = async (event: SessionEvent): Promise<void> => {
    await show(event);
    progress.seq = event.seq;
    if (event.type !== "turn.ended") return;
    ends.add(event.turnId ?? "");
    progress.moved.resolve();
    progress.moved = deferred();
  };
  const follow = async (): Promise<void> => {
    for await (const event of store.follow({ sessionId, after, signal: stop.signal })) await take(event);
  };
  const following = follow();
  following.catch(() => undefined); // told to whoever waits for an end, or disposes

  return {
    async shownEnd(turnId) {
      while (!ends.has(turnId)) {
        const over = following.then(() => Promise.reject(new Error("the log ended before the turn")));
        await Promise.race([progress.moved.promise, over]);
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
      for (;;) {
        const { events } = await store.read({ sessionId, after: progress.seq });
        if (events.length === 0) return;
        for (const event of events) await take(event);
      }
    },
  };
}
