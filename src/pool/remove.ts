/** Removes a task and its worktree, if everything is merged or the user forces it. */
import { isEnded, isRookeryError, messageOf, RookeryError, type RemovedTask } from "../domain/index.ts";
import {
  deleteWorkInProgress,
  findWorktree,
  releasePort,
  removeWorktree,
  workInProgressRef,
} from "../worktrees/index.ts";
import type { PoolParts, Repositories, TaskMirror, TaskRepository } from "./parts.ts";
import { isOnAnotherHost, worktreeElsewhere } from "./remote/take-over.ts";
import type { TaskWriter } from "./task-writer.ts";
import { portsFolder } from "./prepare.ts";

/** How long to wait for a remote that is unreachable. */
const DELETE_MS = 30_000;

/** Rejects with `worktree_unmerged` if unmerged work would be lost and `force` is false. Removing twice is safe. */
export async function removeTask(
  { home, host }: PoolParts,
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
    if (!force && isOnAnotherHost(state, host)) throw worktreeElsewhere(state);
    const opened = await repositories.of(spec).catch((error: unknown) => ignoreMissing(error, force));
    const worktree = opened && (await findWorktree(opened.repository, id));
    if (opened !== undefined && worktree !== undefined) {
      const mergedTip = merge?.outcome === "merged" ? merge.tip : undefined;
      ({ freed } = await removeWorktree(opened.repository, worktree, { force, into: merge?.into, mergedTip }));
    }
    await writer.write({ type: "worktree.removed", path: known.path, branch: known.branch, forced: force });
    if (opened?.mirror !== undefined) await removeWorkInProgress(writer, opened.mirror);
  }
  await releasePort(portsFolder(home), id);
  await writer.write({ type: "task.removed" });
  return { id, freed };
}

/** If the remote is unreachable, the private ref stays there, and the log says how to delete it. */
async function removeWorkInProgress(writer: TaskWriter, mirror: TaskMirror): Promise<void> {
  const { id, createdAt } = writer.state;
  try {
    await deleteWorkInProgress(mirror, { id, createdAt }, { timeoutMs: DELETE_MS });
  } catch (error) {
    const ref = workInProgressRef({ id, createdAt });
    const message = `${ref} stays on the remote (${messageOf(error)}); delete it: git push ${mirror.url} :${ref}`;
    await writer.write({ type: "notice", level: "warning", code: "remote_unreachable", message });
  }
}

/** Returns undefined for a missing repository if `force` is true. It may be on an unmounted disk, so the user has to confirm. */
function ignoreMissing(error: unknown, force: boolean): TaskRepository | undefined {
  const isGone = isRookeryError(error, "repository_missing") || isRookeryError(error, "cwd_missing");
  if (!force || !isGone) throw error;
  return undefined;
}
