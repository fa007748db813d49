/** Protects the session of a task that has not ended. */
import { isEnded, RookeryError, type Store } from "../domain/index.ts";
import { sessionNotFound } from "./answer.ts";

/**
 * Rejects with `session_in_use` if the session belongs to a task that has not ended, because the pool will prompt it.
 * Rejects with `session_not_found` if there is no such session.
 */
export async function requireNoRunningTask(store: Store, sessionId: string): Promise<void> {
  const task = await findRunningTask(store, sessionId);
  if (task === undefined) return;
  const fix = `send its agent a message with \`rookery tell ${task} "…"\`, or stop the task first`;
  throw new RookeryError("session_in_use", `session ${sessionId} belongs to task ${task}, which has not ended: ${fix}`);
}

/** Resolves with the ID of the session's task, or undefined if that has ended. Rejects with `session_not_found`. */
export async function findRunningTask(store: Store, sessionId: string): Promise<string | undefined> {
  const summary = await store.summary(sessionId);
  if (summary === undefined) throw sessionNotFound(sessionId);
  const { task } = summary;
  const state = task === undefined ? undefined : await store.task(task);
  return state === undefined || isEnded(state) ? undefined : task;
}
