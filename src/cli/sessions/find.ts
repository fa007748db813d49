/** Finds a session by id, by the start of an id or a short id, or by `last`. */
import { RookeryError } from "../../domain/errors.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";
import { requireLastSession } from "./last.ts";

/** How many candidates the message about an ambiguous id lists. */
const MAX_CANDIDATES = 5;

/** Rejects with `session_not_found`, or with `usage` if the name is ambiguous. */
export async function findSession(store: SessionStore, named: string, io: Pick<Io, "cwd">): Promise<SessionSummary> {
  if (named === "last") return requireLastSession(store, io.cwd());
  const exact = await store.summary(named);
  if (exact !== undefined) return exact;
  const [found, ...others] = await findCandidates(store, named);
  if (found === undefined) {
    const name = toSingleLine(named, 60);
    throw new RookeryError("session_not_found", `no session ${name}; list all sessions: rookery sessions`);
  }
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id);
  throw usageError(
    `${formatMany(ids)} sessions match ${toSingleLine(named, 60)}: ${ids.slice(0, MAX_CANDIDATES).join(", ")}; ` +
      "type more characters of the id",
  );
}

async function findCandidates(store: SessionStore, named: string): Promise<readonly SessionSummary[]> {
  if (named === "" || named === "ses_") return [];
  return store.list({ idPrefix: named, limit: MAX_CANDIDATES + 1 });
}

function formatMany({ length }: readonly string[]): string {
  return length > MAX_CANDIDATES ? `more than ${MAX_CANDIDATES}` : String(length);
}
