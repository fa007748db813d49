/** Merges two commits into a tree object without a checkout. Writes only objects. */
import { RookeryError } from "../../domain/index.ts";
import { toGitError } from "../failure.ts";
import { displayName, splitNames } from "../byte-names.ts";
import type { Repository } from "../repository.ts";

export type MergedTree = { readonly tree: string } | { readonly conflicts: readonly string[] };

/**
 * `cwd` is a checkout of the target branch, if there is one: git 2.39 reads attributes such as `merge=union` only from
 * files there. Rejects with `git_failed` if git is older than 2.38.
 */
export async function mergeTrees(
  repository: Repository,
  ours: string,
  theirs: string,
  { cwd, signal }: { readonly cwd?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<MergedTree> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const result = await repository.gitTry(args, { cwd, signal });
  const [tree = "", ...files] = splitNames(result.bytes);
  if (result.code === 0) return { tree };
  if (result.code === 1 && tree !== "") return { conflicts: [...new Set(files)].sort().map(displayName) };
  if (result.code === 129) throw new RookeryError("git_failed", "merging requires git 2.38 or later; upgrade git");
  throw await toGitError(cwd ?? repository.root, args, result);
}

export async function readTreeId(repository: Repository, commit: string, signal?: AbortSignal): Promise<string> {
  return repository.git(["rev-parse", `${commit}^{tree}`], { signal });
}
