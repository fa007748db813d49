/** Finds a session or a task by name. */
import { type ErrorCode, isRookeryError, RookeryError } from "../../domain/errors.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import type { TaskView } from "../../domain/task/view.ts";
import type { Rookery } from "../../rookery.ts";
import { usageError } from "../exit.ts";
import type { Io } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";
import { findTask } from "../task/find.ts";
import { findSession } from "./find.ts";

type SessionOrTask = { readonly session: SessionSummary } | { readonly task: TaskView };

/**
 * Prefers a whole id to the start of one. `last` is a session. Rejects with `session_not_found`, or with `usage` if the
 * name is ambiguous.
 */
export async function findSessionOrTask(
  { store, tasks }: Rookery,
  named: string,
  io: Pick<Io, "cwd">,
): Promise<SessionOrTask> {
  if (named === "last") return { session: await findSession(store, named, io) };
  const task = await unlessMissing("task_not_found", findTask(tasks, named, io));
  if (task?.id === named) return { task };
  const session = await unlessMissing("session_not_found", findSession(store, named, io));
  if (session !== undefined && task !== undefined && session.id !== named) {
    const name = toSingleLine(named, 60);
    throw usageError(`${name} matches session ${session.id} and task ${task.id}; type more characters of the id`);
  }
  if (session !== undefined) return { session };
  if (task !== undefined) return { task };
  const none = `no session or task ${toSingleLine(named, 60)}`;
  throw new RookeryError("session_not_found", `${none}; list them: rookery sessions, rookery task`);
}

async function unlessMissing<T>(code: ErrorCode, finding: Promise<T>): Promise<T | undefined> {
  try {
    return await finding;
  } catch (error) {
    if (isRookeryError(error, code)) return undefined;
    throw error;
  }
}
