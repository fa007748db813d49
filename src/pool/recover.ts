/** Going on after a kill: tasks and merges that a dead process had are queued again, or finished. */
import { isEnded, isHeld, isRookeryError, MAX_PAGE, type TaskState } from "../domain/index.ts";
import { isDriven } from "../session/index.ts";
import { sweepMerges } from "../worktrees/index.ts";
import { endLeft, type Ending } from "./ending.ts";
import { settleMerge } from "./merging.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import { takePen, type Pen } from "./pen.ts";
import { interrupted, isLogFailure } from "./reasons.ts";

/** Leaves alone what a living process has, and what is ours although we were too busy to say so in time. */
export async function requeueLeft(
  parts: PoolParts,
  repositories: Repositories,
  isOurs: (id: string) => boolean,
): Promise<void> {
  const held = await parts.store.tasks({ phases: ["preparing", "running"], limit: MAX_PAGE });
  const left = await deserted(
    parts,
    held.filter(({ id }) => !isOurs(id)),
  );
  if (left.length === 0) return;
  await parts.sweep(); // nothing of the dead process works in the folder when the next one goes on
  for (const { id } of left) await withPen(parts, id, (pen) => requeue({ parts, repositories, pen }));
}

/** Merges of tasks that nobody runs; one that is a stage of a run is gone on with by that. */
export async function finishMerges(parts: PoolParts, repositories: Repositories, signal: AbortSignal): Promise<void> {
  const merging = await parts.store.tasks({ merging: true, limit: MAX_PAGE });
  const left = await deserted(
    parts,
    merging.filter((state) => isEnded(state)),
  );
  for (const { id, spec } of left) {
    const repository = await repositories(spec.repository).catch(() => undefined); // one that is gone keeps nobody from the others
    if (repository === undefined) continue;
    await sweepMerges(repository);
    await withPen(parts, id, async (pen) => {
      if (!isEnded(pen.state)) return; // it was resumed meanwhile
      await settleMerge({ parts, pen, repository, signal }).catch((error: unknown) => {
        if (!signal.aborted && isLogFailure(error)) throw error; // any other is in the log
      });
    });
  }
}

async function requeue(left: Ending): Promise<void> {
  const { pen } = left;
  if (!isHeld(pen.state)) return; // another was faster
  if (pen.state.stopAsked) await endLeft(left, "the process that ran it died");
  else await pen.write(interrupted("the process that ran it died; it goes on").event);
}

async function deserted(
  { store, clock, leaseTiming }: PoolParts,
  states: readonly TaskState[],
): Promise<readonly TaskState[]> {
  const driven = await Promise.all(states.map(({ id }) => isDriven(store, id, clock, leaseTiming)));
  return states.filter((_, index) => driven[index] === false);
}

/** A task that someone else took meanwhile is theirs. */
async function withPen(parts: PoolParts, id: string, work: (pen: Pen) => Promise<void>): Promise<void> {
  try {
    await using pen = await takePen({ ...parts, owner: parts.claim() }, id);
    await work(pen);
  } catch (error) {
    if (!isRookeryError(error, "task_state") && !isRookeryError(error, "lease_lost")) throw error;
  }
}
