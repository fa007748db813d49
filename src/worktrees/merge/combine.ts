/** Creates the commit of a merge as an unreferenced object. */
import type { MergeHow } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";
import type { Branches } from "./branches.ts";
import { readCommitter, writeCommit } from "./commit-object.ts";
import { replayCommits } from "./replay.ts";
import { mergeTrees, readTreeId } from "./trees.ts";

export interface CombineOptions {
  readonly how: MergeHow;
  readonly message: string;
  /** A checkout of the target branch, if there is one. */
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type CombineResult = { readonly commits: number } & (
  | { readonly outcome: "merged"; readonly commit: string }
  | { readonly outcome: "nothing" }
  | { readonly outcome: "conflicts"; readonly conflicts: readonly string[]; readonly message: string }
  | { readonly outcome: "failed"; readonly message: string }
);

export async function combineBranches(
  repository: Repository,
  branches: Branches,
  options: CombineOptions,
): Promise<CombineResult> {
  const { branch, into } = branches;
  const { signal } = options;
  const counted = await repository.git(["rev-list", "--count", branch, `^${into}`], { signal });
  const commits = Number(counted);
  if (commits === 0) return { outcome: "nothing", commits };
  if ((await repository.gitTry(["merge-base", into, branch], { signal })).code !== 0) {
    return { outcome: "failed", commits, message: "the two branches have no commit in common" };
  }
  const committer = await readCommitter(repository, signal);
  const how = { ...options, committer, commits };
  return options.how === "rebase"
    ? combineByRebase(repository, branches, how)
    : combineByMerge(repository, branches, how);
}

type CommitOptions = CombineOptions & { readonly committer: string; readonly commits: number };

async function combineByMerge(
  repository: Repository,
  { branch, into }: Branches,
  making: CommitOptions,
): Promise<CombineResult> {
  const { commits, committer, how, message, signal } = making;
  const result = await mergeTrees(repository, into, branch, making);
  if ("conflicts" in result) return toConflictResult(result.conflicts, commits);
  const { tree } = result;
  if (how === "squash" && tree === (await readTreeId(repository, into, signal))) return { outcome: "nothing", commits };
  const parents = how === "squash" ? [into] : [into, branch];
  return {
    outcome: "merged",
    commits,
    commit: await writeCommit(repository, { tree, parents, committer, message }, signal),
  };
}

async function combineByRebase(
  repository: Repository,
  branches: Branches,
  making: CommitOptions,
): Promise<CombineResult> {
  const { commits } = making;
  const result = await replayCommits(repository, branches, making);
  if ("conflicts" in result) return toConflictResult(result.conflicts, commits, result.at);
  if (result.merges && !(await matchesMerge(repository, branches, making, result.tree))) {
    const message = "a rebase would lose changes that the branch made in merge commits; merge or squash it instead";
    return { outcome: "failed", commits, message };
  }
  if (result.replayed === 0) return { outcome: "nothing", commits };
  return { outcome: "merged", commits, commit: result.commit };
}

/** True if a merge gives the same files. A replay skips merge commits, and this shows that nothing is missing. */
async function matchesMerge(repository: Repository, { branch, into }: Branches, making: CommitOptions, tree: string) {
  const whole = await mergeTrees(repository, into, branch, making);
  return "tree" in whole && whole.tree === tree;
}

const MAX_NAMES = 5;

function toConflictResult(conflicts: readonly string[], commits: number, at?: string): CombineResult {
  const named = conflicts.slice(0, MAX_NAMES).join(", ");
  const more = conflicts.length > MAX_NAMES ? `, and ${conflicts.length - MAX_NAMES} more` : "";
  const where = at === undefined ? "" : ` at ${at.slice(0, 10)}`;
  return { outcome: "conflicts", conflicts, commits, message: `both sides changed ${named}${more}${where}` };
}
