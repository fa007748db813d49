/** Recovers from killed processes: queues their tasks again and finishes their merges. */
import { isEnded, isHeld, isRookeryError, MAX_PAGE, type TaskState } from "../domain/index.ts";
import { isDriven } from "../session/index.ts";
import { sweepMerges } from "../worktrees/index.ts";
import { endAbandonedTask, type TaskToEnd } from "./end-task.ts";
import { settleMerge } from "./merge-task.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { openTaskWriter, type TaskWriter } from "./task-writer.ts";
import { runInterrupted, isLogFailure } from "./run-end.ts";

/** Skips tasks of live processes, and tasks of this process whose lease renewal is late. */
export async function requeueAbandoned(
  parts: PoolParts,
  repositories: Repositories,
  isOurs: (id: string) => boolean,
): Promise<void> {
  const held = await parts.store.tasks({ phases: ["preparing", "running"], limit: MAX_PAGE });
  const left = await filterAbandoned(
    parts,
    held.filter(({ id }) => !isOurs(id)),
  );
  if (left.length === 0) return;
  await parts.sweep(); // children of the dead process must not work in the folder when the task continues
  for (const { id } of left) await withTaskWriter(parts, id, (writer) => requeue({ parts, repositories, writer }));
}

/** Finishes the merges of ended tasks. A run finishes the merge that is one of its stages. */
export async function finishAbandonedMerges(
  parts: PoolParts,
  repositories: Repositories,
  signal: AbortSignal,
): Promise<void> {
  const merging = await parts.store.tasks({ merging: true, limit: MAX_PAGE });
  const left = await filterAbandoned(
    parts,
    merging.filter((state) => isEnded(state)),
  );
  for (const { id, spec } of left) {
    const repository = await repositories(spec.repository).catch(() => undefined); // a deleted repository must not block the others
    if (repository === undefined) continue;
    await sweepMerges(repository);
    await withTaskWriter(parts, id, async (writer) => {
      if (!isEnded(writer.state)) return; // resumed in the meantime
      await settleMerge({ parts, writer, repository, signal }).catch((error: unknown) => {
        if (!signal.aborted && isLogFailure(error)) throw error; // other failures are in the log
      });
    });
  }
}

async function requeue(left: TaskToEnd): Promise<void> {
  const { writer } = left;
  if (!isHeld(writer.state)) return; // another process took it first
  if (writer.state.stopAsked) await endAbandonedTask(left, "the process that ran the task died");
  else await writer.write(runInterrupted("the process that ran the task died; the task is queued again").event);
}

async function filterAbandoned(
  { store, clock, leaseTiming }: PoolParts,
  states: readonly TaskState[],
): Promise<readonly TaskState[]> {
  const driven = await Promise.all(states.map(({ id }) => isDriven(store, id, clock, leaseTiming)));
  return states.filter((_, index) => driven[index] === false);
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
