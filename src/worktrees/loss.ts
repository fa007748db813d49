/** What would be lost with a worktree: asked before it is removed. */
import { RookeryError } from "../domain/index.ts";
import { gitDirOf } from "./linked.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";
import { commitsInSubmodules } from "./submodules.ts";

export interface Loss {
  /** Not committed, relative to the root; what git ignores does not count. */
  readonly files: readonly string[];
  /** That no other branch, tag or branch of another's has. */
  readonly commits: number;
  /** Submodules with commits that are nowhere else. */
  readonly submodules: readonly string[];
}

export interface Merged {
  /** The head of the branch when it was merged in a way that does not show, by squash or rebase: not lost up to there. */
  readonly mergedTip?: string | undefined;
}

/** Where the folder is not there, only its branch can be lost. */
export async function lossOf(worktree: Worktree, repository: Repository, { mergedTip }: Merged = {}): Promise<Loss> {
  const { path, branch, baseCommit } = worktree;
  const isLinked = (await gitDirOf(path)) !== undefined;
  const at = { cwd: isLinked ? path : repository.root };
  const tips = await tipsOf(repository, [`refs/heads/${branch}`, ...(isLinked ? ["HEAD"] : [])], at.cwd);
  const kept = await tipsOf(repository, [baseCommit, ...(mergedTip === undefined ? [] : [mergedTip])], at.cwd);
  const others = [`--exclude=${branch}`, "--branches", "--remotes", "--tags"];
  const [status, commits, submodules] = await Promise.all([
    isLinked ? repository.git(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"], at) : "",
    tips.length === 0 ? "0" : repository.git(["rev-list", "--count", ...tips, "--not", ...kept, ...others], at),
    isLinked ? commitsInSubmodules(repository, worktree) : [],
  ]);
  const files = status.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
  return { files, commits: Number(commits), submodules };
}

/** The commits of those that there are. */
async function tipsOf(repository: Repository, refs: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = await Promise.all(
    refs.map((ref) => repository.gitTry(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { cwd })),
  );
  return found.flatMap(({ code, stdout }) => (code === 0 ? [stdout.trim()] : []));
}

export function isNothing({ files, commits, submodules }: Loss): boolean {
  return files.length === 0 && commits === 0 && submodules.length === 0;
}

const MOST_NAMED = 10;

export function unmerged({ id, branch, path }: Worktree, { files, commits, submodules }: Loss): RookeryError {
  const named = files.slice(0, MOST_NAMED).join(", ");
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : "";
  const what = [
    ...(commits === 0 ? [] : [`${commits} ${commits === 1 ? "commit" : "commits"} of ${branch} that are nowhere else`]),
    ...(files.length === 0 ? [] : [`what is not committed in ${path}: ${named}${more}`]),
    ...(submodules.length === 0 ? [] : [`commits in the submodules ${submodules.join(", ")}`]),
  ];
  return new RookeryError(
    "worktree_unmerged",
    `removing ${id} would lose ${what.join(", and ")}; merge it first, or give it up: rookery task remove ${id} --force`,
  );
}
