/** Removes a task and its worktree, if everything is merged or the user forces it. */
import { isEnded, isRookeryError, RookeryError, type RemovedTask } from "../domain/index.ts";
import { findWorktree, releasePort, removeWorktree, type Repository } from "../worktrees/index.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { TaskWriter } from "./task-writer.ts";
import { portsFolder } from "./prepare.ts";

/** Rejects with `worktree_unmerged` if unmerged work would be lost and `force` is false. Removing twice is safe. */
export async function removeTask(
  { home }: PoolParts,
  repositories: Repositories,
  writer: TaskWriter,
  force: boolean,
): Promise<RemovedTask> {
  const { state } = writer;
  const { id, spec, merge, worktree: known } = state;
  if (!isEnded(state)) {
    throw new RookeryError(
      "task_state",
      `task ${id} is ${state.phase}; stop it first with \`rookery task stop ${id}\``,
    );
  }
  if (state.removed) return { id, freed: 0 };
  let freed = 0;
  if (known !== undefined && !known.removed) {
    const repository = await repositories(spec.repository).catch((error: unknown) => ignoreMissing(error, force));
    const worktree = repository && (await findWorktree(repository, id));
    if (repository !== undefined && worktree !== undefined) {
      const mergedTip = merge?.outcome === "merged" ? merge.tip : undefined;
      ({ freed } = await removeWorktree(repository, worktree, { force, into: merge?.into, mergedTip }));
    }
    await writer.write({ type: "worktree.removed", path: known.path, branch: known.branch, forced: force });
  }
  await releasePort(portsFolder(home), id);
  await writer.write({ type: "task.removed" });
  return { id, freed };
}

/** Returns undefined for a missing repository if `force` is true. It may be on an unmounted disk, so the user has to confirm. */
function ignoreMissing(error: unknown, force: boolean): Repository | undefined {
  const isGone = isRookeryError(error, "repository_missing") || isRookeryError(error, "cwd_missing");
  if (!force || !isGone) throw error;
  return undefined;
}
