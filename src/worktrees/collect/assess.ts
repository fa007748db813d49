/** Decides whether a worktree can be removed. In doubt, it stays. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hiddenChanges } from "../hidden-changes.ts";
import { findIgnoredLoss } from "../ignored.ts";
import type { LinkedWorktree } from "../linked-worktrees.ts";
import { listUnchangedSetUpFiles } from "../set-up-files.ts";
import { readWorktreeStatus } from "../status.ts";
import { joinFirstNames } from "../loss.ts";
import { listSubmodulesWithOwnCommits } from "../nested-repositories.ts";
import { REMOVED_PREFIX } from "../worktree-folder.ts";
import type { Worktree } from "../record.ts";
import type { Repository } from "../repository.ts";
import type { ExaminedWorktree, ExaminedTask } from "./examined.ts";
import { readMergedState } from "./merged.ts";

/** Minimum idle time of a worktree without a task: another pool with its own log may have just created it. */
const ORPHAN_MS = 24 * 60 * 60 * 1000;

/** Without a `why`, the worktree can be removed. */
type WorktreeAssessment = Partial<ExaminedWorktree>;

/** Runs the cheap checks first. */
export async function assessWorktree(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  {
    linked,
    touched,
    signal,
  }: { linked: LinkedWorktree | undefined; touched: number; signal?: AbortSignal | undefined },
): Promise<WorktreeAssessment> {
  if (task?.inUse === true) return { why: "its task has not finished" };
  if (isPartlyRemoved(worktree, linked)) return assessRemoved(repository, worktree, task, signal);
  if (linked?.pointsBack !== true) return { why: "its folder is missing; restore it, or remove the task" };
  if (linked.lock !== undefined) return { why: `it is locked${linked.lock === "" ? "" : `: ${linked.lock}`}` };
  if (task === undefined && Date.now() - touched < ORPHAN_MS) {
    return { why: "no task owns it, but it was used in the last 24 hours" };
  }
  const operation = await findOperation(linked);
  if (operation !== undefined) return { why: `a git operation is in progress there (${operation})` };
  const { files, headCommit } = await readWorktreeStatus(worktree, repository, { signal });
  const uncommitted = files.length + (await countHiddenWork(repository, worktree, signal));
  if (uncommitted > 0) return { uncommitted, why: `${countWithVerb(uncommitted, "file")} not committed` };
  const merged = await assessCommits(repository, worktree, task, headCommit, signal);
  if (merged.why !== undefined) return merged;
  const inSubmodules = await listSubmodulesWithOwnCommits(repository, worktree);
  if (inSubmodules.length > 0)
    return { why: `its submodules have commits found nowhere else: ${inSubmodules.join(", ")}` };
  const ignored = await findIgnoredLoss(worktree, repository, signal);
  if (ignored.length === 0) return merged;
  const why = `${countWithVerb(ignored.length, "ignored file")} found nowhere else: ${joinFirstNames(ignored)}`;
  return { uncommitted: ignored.length, why: `${why}; to discard: rookery task remove ${worktree.id} --force` };
}

async function countHiddenWork(repository: Repository, worktree: Worktree, signal?: AbortSignal): Promise<number> {
  const hidden = await hiddenChanges(repository, worktree, signal);
  if (hidden.length === 0) return 0;
  const setUp = await listUnchangedSetUpFiles(worktree, repository, { signal });
  return hidden.filter((name) => !setUp.hidden.has(name)).length;
}

async function assessCommits(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  headCommit: string,
  signal?: AbortSignal,
): Promise<WorktreeAssessment> {
  const { unmerged, into, mergedTip } = await readMergedState(repository, worktree, { ...task, headCommit, signal });
  if (unmerged === 0) return { worktree, into, mergedTip };
  return { unmerged, why: `${countWithVerb(unmerged, "commit")} not merged into ${into}` };
}

/** True if a removal was interrupted after its checks: the folder is already deleted or renamed. */
function isPartlyRemoved({ id, path }: Worktree, linked: LinkedWorktree | undefined): boolean {
  const aside = join(dirname(path), `${REMOVED_PREFIX}${id}`);
  return !existsSync(path) && (linked === undefined || existsSync(aside));
}

async function assessRemoved(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  signal?: AbortSignal,
): Promise<WorktreeAssessment> {
  const { code, stdout } = await repository.gitTry([
    "rev-parse",
    "--verify",
    "--quiet",
    `refs/heads/${worktree.branch}`,
  ]);
  return code === 0 ? assessCommits(repository, worktree, task, stdout.trim(), signal) : { worktree };
}

function countWithVerb(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}

const OPERATIONS = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"];

async function findOperation({ dir }: LinkedWorktree): Promise<string | undefined> {
  const names = await readdir(dir);
  return OPERATIONS.find((name) => names.includes(name));
}
