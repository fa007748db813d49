/** Giving up a task's worktree: only what is merged, or what a person names and gives up. */
import { isEnded, isRookeryError, RookeryError, type RemovedTask } from "../domain/index.ts";
import { findWorktree, releasePort, removeWorktree, type Repository } from "../worktrees/index.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { Pen } from "./pen.ts";
import { portsFolder } from "./prepare.ts";

/** Rejects with `worktree_unmerged` where something would be lost and nobody forces it. Twice is fine. */
export async function removeTask(
  { home }: PoolParts,
  repositories: Repositories,
  pen: Pen,
  force: boolean,
): Promise<RemovedTask> {
  const { state } = pen;
  const { id, spec, merge, worktree: known } = state;
  if (!isEnded(state)) {
    throw new RookeryError("task_state", `task ${id} is ${state.phase}: stop it first, with rookery task stop ${id}`);
  }
  if (state.removed) return { id, freed: 0 };
  let freed = 0;
  if (known !== undefined && !known.removed) {
    const repository = await repositories(spec.repository).catch((error: unknown) => orGone(error, force));
    const worktree = repository && (await findWorktree(repository, id));
    if (repository !== undefined && worktree !== undefined) {
      const mergedTip = merge?.outcome === "merged" ? merge.tip : undefined;
      ({ freed } = await removeWorktree(repository, worktree, { force, into: merge?.into, mergedTip }));
    }
    await pen.write({ type: "worktree.removed", path: known.path, branch: known.branch, forced: force });
  }
  await releasePort(portsFolder(home), id);
  await pen.write({ type: "task.removed" });
  return { id, freed };
}

/** It may be on a disk that is not there now, so that someone has to say that it is given up. */
function orGone(error: unknown, force: boolean): Repository | undefined {
  const isGone = isRookeryError(error, "repository_missing") || isRookeryError(error, "cwd_missing");
  if (!force || !isGone) throw error;
  return undefined;
}
