/**
 * Finds what `last` means: of the sessions that a person started in this directory or in its repository, the one with the
 * newest activity.
 */
import { repositoryRoot } from "../../config/root.ts";
import { RookeryError } from "../../domain/errors.ts";
import { shortId } from "../../domain/ids.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { findWorkingArea, isInTaskWorktree, type WorkingArea } from "../../worktrees/working-area.ts";
import { toSingleLine } from "../sanitize.ts";
import { listByActivity } from "./by-activity.ts";

/**
 * Returns the session with the newest activity that a person started in the directory or in its repository, including
 * the worktrees that a person made. Ignores sessions of tasks and of other agents. Rejects with `cwd_missing`.
 */
export async function findLastSession(store: SessionStore, cwd: string): Promise<SessionSummary | undefined> {
  const area = await findWorkingArea(cwd);
  const place = area.checkouts.length === 0 ? { cwd: area.folder } : { within: area.checkouts };
  for (const session of await listByActivity(store, { startedBy: "person", ...place }))
    if (await isInArea(area, session.cwd)) return session;
  return undefined;
}

/** Like `findLastSession`. Rejects with `session_not_found` and names the newest session of other directories. */
export async function requireLastSession(store: SessionStore, cwd: string): Promise<SessionSummary> {
  const found = await findLastSession(store, cwd);
  if (found !== undefined) return found;
  const [elsewhere] = await listByActivity(store, { startedBy: "person" });
  if (elsewhere === undefined) {
    throw new RookeryError("session_not_found", 'there is no session yet; start one: rookery run "PROMPT"');
  }
  const other = `${shortId(elsewhere.id)} in ${toSingleLine(elsewhere.cwd)}`;
  throw new RookeryError(
    "session_not_found",
    `you have started no session in ${toSingleLine(cwd)} or its repository; the newest elsewhere is ${other}`,
  );
}

/** False in another repository inside a checkout, and in the worktree of a task. */
async function isInArea({ checkouts, folder }: WorkingArea, cwd: string): Promise<boolean> {
  if (cwd === folder) return true;
  const root = await repositoryRoot(cwd).catch(() => undefined);
  return root === undefined ? !isInTaskWorktree(cwd) : checkouts.includes(root);
}
