/** Reads the end of a session's log backwards, so that a long log is not read whole. */
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";

/** At most this many pages are read: 16,000 events or 32 MiB. */
const MAX_PAGES = 16;
const PAGE_EVENTS = 1_000;
const PAGE_BYTES = 2 * 1024 * 1024;

/**
 * Returns the events of the last turns, oldest first, without the raw events of the agent. A very long turn is returned
 * without its beginning. Rejects with `session_not_found`.
 */
export async function readLastTurns(store: SessionStore, sessionId: string, turns: number): Promise<SessionEvent[]> {
  const found: SessionEvent[] = [];
  let left = turns;
  for await (const event of readBackwards(store, sessionId)) {
    if (event.type !== "agent.raw") found.push(event);
    if (event.type === "turn.started") left -= 1;
    if (left === 0) break;
  }
  return found.reverse();
}

/** Returns the text of the last message of the agent, or undefined if none is near the end of the log. */
export async function readLastMessage(store: SessionStore, sessionId: string): Promise<string | undefined> {
  for await (const event of readBackwards(store, sessionId)) {
    if (event.type === "message.completed" && event.text.trim() !== "") return event.text;
  }
  return undefined;
}

async function* readBackwards(store: SessionStore, sessionId: string): AsyncIterable<SessionEvent> {
  let before: number | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { sessionId, before, order: "newest_first", limit: PAGE_EVENTS, maxBytes: PAGE_BYTES } as const;
    const { events } = await store.read(query);
    yield* events;
    before = events.at(-1)?.seq;
    if (before === undefined || before <= 1) return;
  }
}
