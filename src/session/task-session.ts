/** A session that a task works in is the task's until the task has ended. */
import { RookeryError, type Store, type TASK_STATUSES } from "../domain/index.ts";
import { sessionNotFound } from "./answer.ts";

const ENDED: readonly (typeof TASK_STATUSES)[number][] = ["done", "failed", "stopped"];

/** Its pool prompts it, and would find it in use, or gone, when its time comes. Rejects with `session_in_use` or `session_not_found`. */
export async function refuseIfOfRunningTask(store: Store, sessionId: string): Promise<void> {
  const summary = await store.summary(sessionId);
  if (summary === undefined) throw sessionNotFound(sessionId);
  const { task } = summary;
  const state = task === undefined ? undefined : await store.task(task);
  if (task === undefined || state === undefined || ENDED.some((phase) => phase === state.phase)) return;
  throw new RookeryError(
    "session_in_use",
    `session ${sessionId} is task ${task}'s, which has not ended: stop the task first`,
  );
}
