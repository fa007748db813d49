/** Lists sessions by their last activity. The store lists them by their creation. */
import type { ListQuery, SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";

const PAGE_SIZE = 200;
/** Sessions that were created before the newest 4,000 are not found, however active they are. */
const MAX_PAGES = 20;

/** The session with the newest activity first; of equal ones, the newest session. */
export async function listByActivity(
  store: SessionStore,
  query: Omit<ListQuery, "before" | "limit">,
): Promise<SessionSummary[]> {
  const found: SessionSummary[] = [];
  let before: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const summaries = await store.list({ ...query, before, limit: PAGE_SIZE });
    found.push(...summaries);
    before = summaries.at(-1)?.id;
    if (summaries.length < PAGE_SIZE) break;
  }
  return found.toSorted((a, b) => compareTexts(b.updatedAt, a.updatedAt)); // stable: they come newest first
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
