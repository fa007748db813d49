/** Branches of tasks: checks their names, creates them together with the checkout, and deletes them. */
import { RookeryError } from "../domain/index.ts";
import { toBranchConflict, toGitError, isFilterMissing } from "./failure.ts";
import { DISABLE_LFS } from "./git.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

/** Throws `input_invalid` for a name that `git check-ref-format` rejects, or that looks like an option. */
export function checkBranchName(name: string): void {
  const parts = name.split("/");
  const isRefused =
    name.length > 200 ||
    name.startsWith("-") ||
    name === "HEAD" ||
    /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name) ||
    name !== name.toWellFormed() ||
    parts.some((part) => part === "" || part === "@" || part.startsWith(".") || part.endsWith(".lock"));
  if (!isRefused) return;
  const quotedName = JSON.stringify(name.slice(0, 200).toWellFormed());
  throw new RookeryError("input_invalid", `${quotedName} is not a valid branch name; see: git help check-ref-format`);
}

export async function hasBranch(repository: Repository, branch: string): Promise<boolean> {
  return (await repository.gitTry(["show-ref", "--verify", "--quiet", `refs/heads/${branch}`])).code === 0;
}

/** Deletes the branch only if it still points to `commit`. Returns whether it was deleted. */
export async function deleteBranch(repository: Repository, branch: string, commit: string): Promise<boolean> {
  return (await repository.gitTry(["update-ref", "-d", `refs/heads/${branch}`, commit])).code === 0;
}

/** Runs `git worktree add`, which cleans up if it fails. Rejects with `branch_exists` if the branch exists or is checked out elsewhere. */
export async function addLinkedWorktree(
  repository: Repository,
  { path, branch, baseCommit }: Worktree,
  withBranch: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const what = withBranch ? ["--no-track", "-b", branch, path, baseCommit] : [path, branch];
  const args = ["worktree", "add", "--quiet", ...what];
  const result = await repository.gitTry(args, { signal });
  if (result.code === 0) return;
  if (isFilterMissing(result.stderr)) {
    // The branch exists by now. Check out again without LFS: files that cannot be downloaded stay pointers.
    await repository.git([...DISABLE_LFS, "worktree", "add", "--quiet", path, branch], { signal });
    return;
  }
  throw toBranchConflict(result.stderr, branch) ?? (await toGitError(repository.root, args, result));
}
