/** Merges two commits into a tree, as objects alone: no checkout is read but for its attributes, and none is written. */
import { RookeryError } from "../../domain/index.ts";
import { toGitError } from "../failure.ts";
import { displayName, splitNames } from "../byte-names.ts";
import type { Repository } from "../repository.ts";

export type MergedTree = { readonly tree: string } | { readonly conflicts: readonly string[] };

/**
 * `cwd` is a checkout of what is merged into, where there is one: git 2.39 takes attributes, such as `merge=union`, from
 * the files there and from nowhere else.
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
  if (result.code === 129) throw new RookeryError("git_failed", "merging needs git 2.38 or newer; install it");
  throw await toGitError(cwd ?? repository.root, args, result);
}

export async function readTreeId(repository: Repository, commit: string, signal?: AbortSignal): Promise<string> {
  return repository.git(["rev-parse", `${commit}^{tree}`], { signal });
}
