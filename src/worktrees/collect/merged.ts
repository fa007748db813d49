/** Is everything of a branch in another one? Only what is known for sure counts. */
import { mergeTrees, readTreeId } from "../merge/trees.ts";
import { wasPublished } from "../merge/merge.ts";
import type { Worktree } from "../record.ts";
import type { Repository } from "../repository.ts";

export interface MergedState {
  /** How many commits are not. */
  readonly unmerged: number;
  /** What it would be merged into: a branch, or the commit it began from. */
  readonly into: string;
  /** The commit up to which all is merged, where that cannot be seen from the history. */
  readonly mergedTip?: string | undefined;
}

export interface RecordedMerge {
  readonly into?: string | undefined;
  readonly mergedTip?: string | undefined;
  readonly mergedAs?: string | undefined;
  /** What is checked out in the worktree, which may not be its branch. */
  readonly headCommit: string;
  readonly signal?: AbortSignal | undefined;
}

export async function readMergedState(repository: Repository, worktree: Worktree, claimed: RecordedMerge): Promise<MergedState> {
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

/** What the log says was merged does not count once the branch was set back to before it. */
async function trustedTip(repository: Repository, { into, mergedTip, mergedAs }: RecordedMerge): Promise<string | undefined> {
  if (mergedTip === undefined || mergedAs === undefined || into === undefined) return undefined;
  return (await wasPublished(repository, { into, commit: mergedAs })) ? mergedTip : undefined;
}

/**
 * Whoever squashed or rebased it by hand left no trace but the files: merging it once more would change none. One whose
 * commits undo each other looks the same, and is kept.
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
