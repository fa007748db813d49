/** Why a worktree has to stay, if it has to: whatever is not certain keeps it. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hiddenChanges } from "../hidden.ts";
import { ignoredLoss } from "../ignored.ts";
import type { Linked } from "../linked.ts";
import { statusOf } from "../look.ts";
import { firstOf } from "../loss.ts";
import { commitsInSubmodules } from "../nested.ts";
import { REMOVED } from "../place.ts";
import type { Worktree } from "../record.ts";
import type { Repository } from "../repository.ts";
import type { Examined, ExaminedTask } from "./examine.ts";
import { mergedState } from "./merged.ts";

/** Another pool, with a log of its own, may have made it just now. */
const ORPHAN_MS = 24 * 60 * 60 * 1000;

/** What is found out of it; without a `why` it may go. */
type Judgement = Partial<Examined>;

/** From what is cheap to know to what is not. */
export async function judge(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  { linked, touched, signal }: { linked: Linked | undefined; touched: number; signal?: AbortSignal | undefined },
): Promise<Judgement> {
  if (task?.inUse === true) return { why: "its task is not over" };
  if (isHalfRemoved(worktree, linked)) return gone(repository, worktree, task, signal);
  if (linked?.pointsBack !== true) return { why: "its folder is not where it was; look for it, or remove the task" };
  if (linked.lock !== undefined) return { why: `it is locked${linked.lock === "" ? "" : `: ${linked.lock}`}` };
  if (task === undefined && Date.now() - touched < ORPHAN_MS) {
    return { why: "no task here knows it, but it was used within a day" };
  }
  const underWay = await operationIn(linked);
  if (underWay !== undefined) return { why: `git is in the middle of something there (${underWay})` };
  const { files, headCommit } = await statusOf(worktree, repository, { signal });
  const uncommitted = files.length + (await hiddenChanges(repository, worktree, signal)).length;
  if (uncommitted > 0) return { uncommitted, why: `${counted(uncommitted, "file")} not committed` };
  const merged = await judgeCommits(repository, worktree, task, headCommit, signal);
  if (merged.why !== undefined) return merged;
  const inSubmodules = await commitsInSubmodules(repository, worktree);
  if (inSubmodules.length > 0) return { why: `its submodules have commits of their own: ${inSubmodules.join(", ")}` };
  const ignored = await ignoredLoss(worktree, repository, signal);
  if (ignored.length === 0) return merged;
  const why = `${counted(ignored.length, "ignored file")} nowhere else: ${firstOf(ignored)}`;
  return { uncommitted: ignored.length, why: `${why}; to give that up: rookery task remove ${worktree.id} --force` };
}

async function judgeCommits(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  headCommit: string,
  signal?: AbortSignal,
): Promise<Judgement> {
  const { unmerged, into, mergedTip } = await mergedState(repository, worktree, { ...task, headCommit, signal });
  if (unmerged === 0) return { worktree, into, mergedTip };
  return { unmerged, why: `${counted(unmerged, "commit")} not merged into ${into}` };
}

/** Someone was killed while they removed it: its files were looked at, and are gone or put aside. */
function isHalfRemoved({ id, path }: Worktree, linked: Linked | undefined): boolean {
  const aside = join(dirname(path), `${REMOVED}${id}`);
  return !existsSync(path) && (linked === undefined || existsSync(aside));
}

async function gone(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  signal?: AbortSignal,
): Promise<Judgement> {
  const { code, stdout } = await repository.gitTry([
    "rev-parse",
    "--verify",
    "--quiet",
    `refs/heads/${worktree.branch}`,
  ]);
  return code === 0 ? judgeCommits(repository, worktree, task, stdout.trim(), signal) : { worktree };
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}

const OPERATIONS = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"];

async function operationIn({ dir }: Linked): Promise<string | undefined> {
  const names = await readdir(dir);
  return OPERATIONS.find((name) => names.includes(name));
}
