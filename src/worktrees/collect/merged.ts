/** Checks whether a branch is fully merged into another one. In doubt, it is not. */
import { mergeTrees, readTreeId } from "../merge/trees.ts";
import { wasPublished } from "../merge/merge.ts";
import type { Worktree } from "../record.ts";
import type { Repository } from "../repository.ts";

export interface MergedState {
  /** Number of commits that are not merged. */
  readonly unmerged: number;
  /** The target: a branch, or the base commit. */
  readonly into: string;
  /** The commit up to which everything is merged, if the history does not show it. */
  readonly mergedTip?: string | undefined;
}

export interface RecordedMerge {
  readonly into?: string | undefined;
  readonly mergedTip?: string | undefined;
  readonly mergedAs?: string | undefined;
  /** The commit that is checked out in the worktree. It may not be on the worktree's branch. */
  readonly headCommit: string;
  readonly signal?: AbortSignal | undefined;
}

export async function readMergedState(
  repository: Repository,
  worktree: Worktree,
  claimed: RecordedMerge,
): Promise<MergedState> {
  const { signal } = claimed;
  const targets = await readBranchTips(repository, [claimed.into, worktree.base]);
  const into = targets[0]?.name ?? worktree.baseCommit.slice(0, 10);
  const [branch] = await readBranchTips(repository, [worktree.branch]);
  const heads = [...new Set([claimed.headCommit, ...(branch === undefined ? [] : [branch.commit])])];
  const tip = await trustedTip(repository, claimed);
  const not = [worktree.baseCommit, ...targets.map(({ commit }) => commit), ...(tip === undefined ? [] : [tip])];
  const counted = await repository.git(["rev-list", "--count", ...heads, "--not", ...not], { signal });
  const unmerged = Number(counted);
  if (unmerged === 0) return { unmerged, into, mergedTip: tip };
  const [head] = heads;
  if (heads.length > 1 || head === undefined) return { unmerged, into };
  for (const { name, commit } of targets) {
    if (await isContained(repository, head, commit, signal)) return { unmerged: 0, into: name, mergedTip: head };
  }
  return { unmerged, into };
}

async function readBranchTips(repository: Repository, names: readonly (string | undefined)[]) {
  const wanted = [...new Set(names.filter((name) => name !== undefined))];
  const refs = wanted.map((name) => `refs/heads/${name}`);
  const lines = (await repository.git(["for-each-ref", "--format=%(objectname) %(refname)", ...refs])).split("\n");
  return wanted.flatMap((name) => {
    const line = lines.find((found) => found.endsWith(` refs/heads/${name}`));
    return line === undefined ? [] : [{ name, commit: line.split(" ")[0] ?? "" }];
  });
}

/** Returns `mergedTip` if the target branch still contains the recorded merge. It may have been reset since. */
async function trustedTip(
  repository: Repository,
  { into, mergedTip, mergedAs }: RecordedMerge,
): Promise<string | undefined> {
  if (mergedTip === undefined || mergedAs === undefined || into === undefined) return undefined;
  return (await wasPublished(repository, { into, commit: mergedAs })) ? mergedTip : undefined;
}

/**
 * True if merging `head` again would change no file: a squash or rebase by hand leaves no other trace. False for a branch
 * whose commits cancel out, which looks the same.
 */
async function isContained(
  repository: Repository,
  head: string,
  target: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const base = await repository.gitTry(["merge-base", target, head], { signal });
  if (base.code !== 0) return false;
  const [before, after, now] = await Promise.all(
    [base.stdout.trim(), head, target].map((commit) => readTreeId(repository, commit, signal)),
  );
  if (before === after) return false;
  const merged = await mergeTrees(repository, target, head, { signal });
  return "tree" in merged && merged.tree === now;
}
