/** Giving up a task's worktree: only what is merged, or what a person names and gives up. */
import {
  isEnded,
  RookeryError,
  type CollectReport,
  type CollectTasks,
  type RemovedTask,
  type TaskState,
} from "../domain/index.ts";
import { collect, examine, findWorktree, releasePort, removeWorktree, type Repository } from "../worktrees/index.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { Pen } from "./pen.ts";
import { portsFolder } from "./prepare.ts";

/** Rejects with `worktree_unmerged` where something would be lost and nobody forces it. */
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
  let freed = 0;
  if (known !== undefined && !known.removed) {
    const repository = await repositories(spec.repository);
    const worktree = await findWorktree(repository, id);
    if (worktree !== undefined) {
      const mergedTip = merge?.outcome === "merged" ? merge.tip : undefined;
      ({ freed } = await removeWorktree(repository, worktree, { force, into: merge?.into, mergedTip }));
    }
    await pen.write({ type: "worktree.removed", path: known.path, branch: known.branch, forced: force });
  }
  await releasePort(portsFolder(home), id);
  await pen.write({ type: "task.removed" });
  return { id, freed };
}

/** In each repository; what it removes is told to the logs of its tasks by `removed`. */
export async function collectTasks(
  repository: Repository,
  states: readonly TaskState[],
  { dryRun = false, quota }: CollectTasks,
  removed: (id: string, path: string) => Promise<void>,
): Promise<CollectReport> {
  const tasks = states.flatMap((state) => {
    const { id, worktree, merge, endedAt } = state;
    if (worktree === undefined) return [];
    const isMerged = merge?.outcome === "merged";
    return [
      {
        id,
        branch: worktree.branch,
        base: worktree.base,
        into: merge?.into,
        inUse: !isEnded(state) || (merge !== undefined && merge.outcome === undefined),
        endedAt,
        mergedTip: isMerged ? merge.tip : undefined,
        mergedAs: isMerged ? merge.commit : undefined,
      },
    ];
  });
  const report = await collect(repository, await examine(repository, tasks), { dryRun, quota });
  if (!dryRun) for (const { id, path } of report.removed) await removed(id, path);
  return report;
}
