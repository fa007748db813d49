/** A session that a task works in is the task's until the task has ended. */
import { isEnded, RookeryError, type Store } from "../domain/index.ts";
import { sessionNotFound } from "./answer.ts";

/** Its pool prompts it, and would find it in use, or gone, when its time comes. Rejects with `session_in_use` or `session_not_found`. */
export async function requireNoRunningTask(store: Store, sessionId: string): Promise<void> {
  const task = await findRunningTask(store, sessionId);
  if (task === undefined) return;
  const fix = `say something to its agent with \`rookery tell ${task} "…"\`, or stop the task first`;
  throw new RookeryError("session_in_use", `session ${sessionId} is task ${task}'s, which has not ended: ${fix}`);
}

/** The task that the session is of, unless that has ended. Rejects with `session_not_found`. */
export async function findRunningTask(store: Store, sessionId: string): Promise<string | undefined> {
  const summary = await store.summary(sessionId);
  if (summary === undefined) throw sessionNotFound(sessionId);
  const { task } = summary;
  const state = task === undefined ? undefined : await store.task(task);
  return state === undefined || isEnded(state) ? undefined : task;
}
