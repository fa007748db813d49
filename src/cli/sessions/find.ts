/** Finds a session by id, by a prefix of an id, or by `last`. */
import { RookeryError } from "../../domain/errors.ts";
import { MAX_PAGE, type SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { usageError } from "../exit.ts";
import { toSingleLine } from "../sanitize.ts";

const FIND_PAGE_SIZE = 20;

/** Rejects with `session_not_found`, or with `usage` if the prefix is ambiguous. */
export async function findSession(store: SessionStore, named: string): Promise<SessionSummary> {
  if (named === "last") {
    const newest = await findNewest(store);
    if (newest !== undefined) return newest;
    throw new RookeryError("session_not_found", 'there is no session yet; start one: rookery run "PROMPT"');
  }
  const exact = await store.summary(named);
  if (exact !== undefined) return exact;
  const [found, ...others] = await sessionsWithPrefix(store, named.startsWith("ses_") ? named : `ses_${named}`);
  if (found === undefined || named === "" || named === "ses_") {
    const name = toSingleLine(named, 60);
    throw new RookeryError("session_not_found", `no session ${name}; list all sessions: rookery sessions`);
  }
  if (others.length === 0) return found;
  const some = [found, ...others].slice(0, 3).map(({ id }) => id);
  throw usageError(
    `${others.length + 1} sessions start with ${named}: ${some.join(", ")}; type more characters of the id`,
  );
}

/** Ignores child sessions, which are newer than their parent. */
async function findNewest(store: SessionStore): Promise<SessionSummary | undefined> {
  for (let before: string | undefined; ;) {
    const page = await store.list({ before, limit: FIND_PAGE_SIZE });
    const found = page.find(({ depth }) => depth === undefined);
    before = page.at(-1)?.id;
    if (found !== undefined || before === undefined) return found;
  }
}

async function sessionsWithPrefix(store: SessionStore, prefix: string): Promise<SessionSummary[]> {
  const found: SessionSummary[] = [];
  for (let before: string | undefined; ;) {
    const page = await store.list({ before, limit: MAX_PAGE });
    found.push(...page.filter(({ id }) => id.startsWith(prefix)));
    before = page.at(-1)?.id;
    if (before === undefined || before < prefix) return found; // ids are sorted, newest first
  }
}
