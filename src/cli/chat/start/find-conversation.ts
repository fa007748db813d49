/** Finds the conversations of a directory: sessions that a person started there, not those of tasks or sub-agents. */
import type { SessionStore } from "../../../domain/store.ts";
import type { SessionSummary } from "../../../domain/summary.ts";

const MAX_CONVERSATIONS = 100;
const MAX_PAGES = 20;

/** Newest activity first. */
export async function listConversations(
  store: SessionStore,
  cwd: string,
  limit = MAX_CONVERSATIONS,
): Promise<SessionSummary[]> {
  const found: SessionSummary[] = [];
  let before: string | undefined;
  for (let page = 0; page < MAX_PAGES && found.length < limit; page += 1) {
    const summaries = await store.list({ cwd, startedBy: "person", before, limit: MAX_CONVERSATIONS });
    found.push(...summaries.filter(isConversation));
    before = summaries.at(-1)?.id;
    if (before === undefined) break;
  }
  return found.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)).slice(0, limit);
}

function isConversation({ status, turns }: SessionSummary): boolean {
  return status !== "closed" && turns > 0;
}
