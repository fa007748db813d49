/** The branch of a task: its name is refused before git could take it for something else, and it is made with the checkout. */
import { RookeryError } from "../domain/index.ts";
import { toBranchConflict, toGitError, isFilterMissing } from "./failure.ts";
import { DISABLE_LFS } from "./git.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

/** As `git check-ref-format` has it, and nothing that begins like an option. */
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
  const shown = JSON.stringify(name.slice(0, 200).toWellFormed());
  throw new RookeryError("input_invalid", `${shown} cannot be the name of a branch`);
}

export async function hasBranch(repository: Repository, branch: string): Promise<boolean> {
  return (await repository.gitTry(["show-ref", "--verify", "--quiet", `refs/heads/${branch}`])).code === 0;
}

/** Only if it is still at that commit. */
export async function deleteBranch(repository: Repository, branch: string, commit: string): Promise<boolean> {
  return (await repository.gitTry(["update-ref", "-d", `refs/heads/${branch}`, commit])).code === 0;
}

/** Rejects with `branch_exists` where the branch is there, or is checked out elsewhere. Git removes what it leaves half-made. */
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
    // The branch was made before the files could not be; large files that cannot be had stay the pointers that they are.
    await repository.git([...DISABLE_LFS, "worktree", "add", "--quiet", path, branch], { signal });
    return;
  }
  throw toBranchConflict(result.stderr, branch) ?? (await toGitError(repository.root, args, result));
}
