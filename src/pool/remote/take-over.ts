/** Continues a task of another host: restores its worktree here from the snapshot on the remote. */
import { isRookeryError, messageOf, RookeryError, type TaskState } from "../../domain/index.ts";
import { claimWorkInProgress, restoreWorktree, type Worktree } from "../../worktrees/index.ts";
import type { PoolParts, TaskMirror } from "../parts.ts";
import type { TaskWriter } from "../task-writer.ts";

export interface TakenOver {
  readonly worktree: Worktree;
  /** The copy of the snapshot with which this host has replaced it on the remote. */
  readonly snapshot: string;
}

export interface TakeOverContext {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly mirror: TaskMirror;
  readonly signal: AbortSignal;
}

/** True if the worktree of the task is on another host. */
export function isOnAnotherHost({ worktree }: Pick<TaskState, "worktree">, host: string | undefined): boolean {
  return host !== undefined && worktree?.removed === false && worktree.host !== undefined && worktree.host !== host;
}

export function worktreeElsewhere({ id, worktree }: Pick<TaskState, "id" | "worktree">): RookeryError {
  const where = `the worktree of task ${id} is on host ${worktree?.host ?? "unknown"}, at ${worktree?.path ?? ""}`;
  return new RookeryError("other_host", `${where}; run this command there`);
}

/**
 * Call it for a task whose worktree is on another host, with the lease of the task. From then on, that host can no longer
 * save. Resolves with undefined if the remote has no snapshot. Rejects with `remote_unreachable`.
 */
export async function takeOverWorktree(context: TakeOverContext): Promise<TakenOver | undefined> {
  const { parts, writer, mirror, signal } = context;
  const { id, createdAt, worktree: known } = writer.state;
  if (known === undefined) return undefined;
  const from = known.host ?? "another host";
  const message = `Work in progress of task ${id}, taken over by ${parts.host ?? "this host"}\n`;
  const snapshot = await claimWorkInProgress(mirror, { id, createdAt }, { message, signal });
  if (snapshot === undefined) {
    const text = `the remote has no work of task ${id} from host ${from}, so the task starts again from ${known.base}`;
    await writer.write({ type: "notice", level: "warning", code: "worktree_missing", message: text });
    return undefined;
  }
  const { branch, base, baseCommit, copied } = known;
  const options = { id, branch, base, baseCommit, snapshot, exclude: copied, signal };
  const { worktree, left } = await withRepair(context, () => restoreWorktree(mirror.repository, options));
  if (left !== undefined) {
    const text = `an earlier run left other work in the worktree of this host; it is kept in ${mirror.repository.root} as ${left}`;
    await writer.write({ type: "notice", level: "warning", code: "worktree_missing", message: text });
  }
  return { worktree, snapshot };
}

/** Restores the worktree of an ended task here if it is on another host, so that it can be merged. */
export async function bringWorktreeHere(context: {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly mirror?: TaskMirror | undefined;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { parts, writer, mirror } = context;
  if (mirror === undefined || !isOnAnotherHost(writer.state, parts.host)) return;
  const taken = await takeOverWorktree({ ...context, mirror });
  if (taken === undefined) throw worktreeElsewhere(writer.state);
  const { path, branch, base, baseCommit } = taken.worktree;
  const host = parts.host !== undefined && { host: parts.host };
  const made = { path, branch, base, baseCommit, anew: true, restored: taken.snapshot, ...host };
  await writer.write({ type: "worktree.made", ...made });
}

/** Fetches the branches of the remote. If it is unreachable, the task uses what was fetched last, and its log says so. */
export async function fetchForTask({ writer, mirror, signal }: Omit<TakeOverContext, "parts">): Promise<void> {
  try {
    await mirror.fetch({ signal });
  } catch (error) {
    if (signal.aborted || !isRookeryError(error, "remote_unreachable")) throw error;
    const message = `the task uses the branches as they were fetched last: ${messageOf(error)}`;
    await writer.write({ type: "notice", level: "warning", code: "remote_unreachable", message });
  }
  await writeMirrorNotices({ writer, mirror });
}

/** Repeats the work once if it failed because the mirror is corrupt and could be replaced. */
export async function withRepair<T>(
  { writer, mirror }: Pick<TakeOverContext, "writer" | "mirror">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isRepaired = await mirror.repair(error);
    await writeMirrorNotices({ writer, mirror });
    if (!isRepaired) throw error;
    return work();
  }
}

async function writeMirrorNotices({ writer, mirror }: Pick<TakeOverContext, "writer" | "mirror">): Promise<void> {
  for (const message of mirror.takeNotices()) {
    await writer.write({ type: "notice", level: "warning", code: "git_failed", message });
  }
}
