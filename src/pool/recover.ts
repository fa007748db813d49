/** Recovers from killed processes: queues their tasks again and finishes their merges. */
import { isEnded, isHeld, isRookeryError, type HeldTask, type TaskState } from "../domain/index.ts";
import { DEFAULT_LEASE_TIMING, isHeldLease } from "../session/index.ts";
import { sweepMerges } from "../worktrees/index.ts";
import { endAbandonedTask, type TaskToEnd } from "./end-task.ts";
import { isMerging, settleMerge } from "./merge-task.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { isReachableTask } from "./reach.ts";
import { bringWorktreeHere, isOnAnotherHost } from "./remote/take-over.ts";
import type { RetryTimes } from "./remote/wait-for-remote.ts";
import { openTaskWriter, type TaskWriter } from "./task-writer.ts";
import { runInterrupted, isLogFailure } from "./run-end.ts";

/** Lists the tasks of dead processes, with one query. `isOurs`: skips tasks of this process whose renewal is late. */
export async function listAbandoned(
  { store, clock, leaseTiming: timing = DEFAULT_LEASE_TIMING }: PoolParts,
  isOurs: (id: string) => boolean,
): Promise<readonly HeldTask[]> {
  const held = await store.heldTasks();
  return held.filter(({ id, lease }) => !isOurs(id) && !isHeldLease(lease, { store, clock, timing }));
}

export async function requeueAbandoned(
  parts: PoolParts,
  repositories: Repositories,
  abandoned: readonly HeldTask[],
): Promise<void> {
  const left = abandoned.filter(isHeld);
  if (left.length === 0) return;
  await parts.sweep(); // children of the dead process must not work in the folder when the task continues
  for (const { id } of left) await withTaskWriter(parts, id, (writer) => requeue({ parts, repositories, writer }));
}

/** Finishes the merges of ended tasks. A run finishes the merge that is one of its stages. */
export async function finishAbandonedMerges(
  parts: PoolParts,
  repositories: Repositories,
  abandoned: readonly HeldTask[],
  signal: AbortSignal,
  retries: RetryTimes,
): Promise<void> {
  for (const { id } of abandoned.filter((task) => isEnded(task) && retries.isDue(task.id))) {
    const state = await parts.store.task(id);
    if (state === undefined || !isReachableTask(state, parts.host) || !isOurMerge(parts, state)) continue;
    const opened = await repositories.of(state.spec).catch(() => undefined); // a deleted repository must not block the others
    if (opened === undefined) continue;
    await sweepMerges(opened.repository);
    await withTaskWriter(parts, id, async (writer) => {
      if (!isEnded(writer.state)) return; // resumed in the meantime
      const context = { parts, writer, ...opened, signal };
      await bringWorktreeHere(context)
        .then(() => settleMerge({ ...context, unreachable: "reject" }))
        .catch((error: unknown) => {
          if (!signal.aborted && isLogFailure(error)) throw error; // other failures are in the log
        });
      if (isMerging(writer.state)) retries.delay(id);
      else retries.clear(id);
    });
  }
}

/** How long another host has to finish its own merge. */
const OTHER_HOST_MS = 60_000;

/** Whether this host finishes the merge of a dead process. A request in the far future comes from another clock. */
export function isOurMerge({ clock, host }: Pick<PoolParts, "clock" | "host">, state: TaskState): boolean {
  if (!isOnAnotherHost(state, host)) return true;
  const agedMs = Math.abs(clock.now() - Date.parse(state.merge?.askedAt ?? ""));
  return state.spec.remote !== undefined && agedMs > OTHER_HOST_MS;
}

async function requeue(left: TaskToEnd): Promise<void> {
  const { writer } = left;
  if (!isHeld(writer.state)) return; // another process took it first
  if (writer.state.stopAsked) await endAbandonedTask(left, "the process that ran the task died");
  else await writer.write(runInterrupted("the process that ran the task died; the task is queued again").event);
}

/** Does nothing if another process takes the task first. */
async function withTaskWriter(
  parts: PoolParts,
  id: string,
  work: (writer: TaskWriter) => Promise<void>,
): Promise<void> {
  try {
    await using writer = await openTaskWriter({ ...parts, owner: parts.claim() }, id);
    await work(writer);
  } catch (error) {
    if (!isRookeryError(error, "task_state") && !isRookeryError(error, "lease_lost")) throw error;
  }
}
