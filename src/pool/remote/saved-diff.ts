/** Reads the diff of a task whose worktree is on another host, from the snapshot on the remote. */
import type { TaskDiff, TaskState } from "../../domain/index.ts";
import { fetchWorkInProgress, readSnapshotDiff, type DiffOptions } from "../../worktrees/index.ts";
import type { TaskRepository } from "../parts.ts";
import { worktreeElsewhere } from "./take-over.ts";

/** Rejects with `other_host` if the remote has no snapshot, or with `remote_unreachable`. */
export async function readSavedDiff(
  state: TaskState,
  { repository, mirror }: TaskRepository,
  options: DiffOptions,
): Promise<TaskDiff> {
  const { id, createdAt, worktree } = state;
  const snapshot = mirror && (await fetchWorkInProgress(mirror, { id, createdAt }, { signal: options.signal }));
  if (snapshot === undefined || worktree === undefined) throw worktreeElsewhere(state);
  await mirror?.fetch({ signal: options.signal }); // the base commit may be newer than the mirror
  return readSnapshotDiff(snapshot, worktree, repository, options);
}
