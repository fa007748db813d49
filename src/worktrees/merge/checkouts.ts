/** Finds the checkout of a branch, and rebases in progress that will move it. */
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";

/** Returns the folder, if any. Rejects with `checkout_dirty` during a rebase of the branch, or if it is checked out twice. */
export async function findBranchCheckout(
  repository: Repository,
  ref: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const [folders, rebasing] = await Promise.all([listCheckouts(repository, ref, signal), findRebase(repository, ref)]);
  const branch = ref.replace(/^refs\/heads\//, "");
  if (rebasing !== undefined) {
    throw new RookeryError(
      "checkout_dirty",
      `a rebase of ${branch} is in progress (${rebasing} exists); finish or abort it, then merge again`,
    );
  }
  if (folders.length > 1) {
    throw new RookeryError(
      "checkout_dirty",
      `${branch} is checked out in ${folders.join(" and ")}; keep it in only one of them, then merge again`,
    );
  }
  return folders[0];
}

/** Skips worktrees whose folder was deleted. */
async function listCheckouts(repository: Repository, ref: string, signal?: AbortSignal): Promise<readonly string[]> {
  const text = await repository.git(["worktree", "list", "--porcelain", "-z"], { signal });
  return text.split("\0\0").flatMap((entry, at) => {
    const lines = entry.split("\0");
    const listed = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    // The main checkout comes first. If its `.git` is a file, git 2.39 lists the git folder instead.
    const path = at === 0 ? repository.root : listed;
    return path !== undefined && lines.includes(`branch ${ref}`) && existsSync(path) ? [path] : [];
  });
}

/** Returns the state file of a rebase of the branch. During a rebase git lists the branch as not checked out, and moves it at the end. */
async function findRebase({ commonDir }: Repository, ref: string): Promise<string | undefined> {
  const linked = await readdir(join(commonDir, "worktrees")).catch(() => []);
  const folders = [commonDir, ...linked.map((name) => join(commonDir, "worktrees", name))];
  const files = folders.flatMap((folder) =>
    ["rebase-merge", "rebase-apply"].map((name) => join(folder, name, "head-name")),
  );
  for (const file of files) {
    const name = await readFile(file, "utf8").catch(() => undefined);
    if (name?.trim() === ref) return file;
  }
  return undefined;
}
