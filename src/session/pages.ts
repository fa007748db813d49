/** Reads a session's log in pages that fit in memory. */
import type { SessionEvent } from "../domain/events.ts";
import { DEFAULT_PAGE, type SessionStore } from "../domain/store.ts";

export interface PageLimits {
  /** The `seq` after which to start. Default: 0. */
  readonly after?: number | undefined;
  /** The `seq` of the last event to read. Default: the head. */
  readonly through?: number | undefined;
  /** Maximum number of events in a page. Default: 1,000. */
  readonly limit?: number | undefined;
  /** Maximum size of a page in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

/** Yields pages, oldest events first. Rejects with `session_not_found`. */
export async function* readSessionPages(
  store: Pick<SessionStore, "read">,
  sessionId: string,
  { after: start = 0, through = Infinity, limit = DEFAULT_PAGE, maxBytes }: PageLimits = {},
): AsyncIterable<readonly SessionEvent[]> {
  for (let after = start; after < through;) {
    const { events, head } = await store.read({ sessionId, after, before: through + 1, limit, maxBytes });
    if (events.length > 0) yield events;
    after = events.at(-1)?.seq ?? through;
    if (after >= head) return;
  }
}
