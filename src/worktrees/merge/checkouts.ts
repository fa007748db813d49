/** Where a branch is checked out, or is about to be moved by a rebase that is under way. */
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";

/** The folder, if there is one. Rejects with `checkout_dirty` where the branch cannot be moved without harm. */
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
      `a rebase of ${branch} is under way, as ${rebasing} says; finish it or give it up, then merge again`,
    );
  }
  if (folders.length > 1) {
    throw new RookeryError(
      "checkout_dirty",
      `${branch} is checked out in ${folders.join(" and ")}; leave it in all but one, then merge again`,
    );
  }
  return folders[0];
}

/** One whose folder was deleted by hand has no files to bring along. */
async function listCheckouts(repository: Repository, ref: string, signal?: AbortSignal): Promise<readonly string[]> {
  const text = await repository.git(["worktree", "list", "--porcelain", "-z"], { signal });
  return text.split("\0\0").flatMap((entry, at) => {
    const lines = entry.split("\0");
    const listed = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    // The main checkout comes first; where its `.git` is elsewhere, git names that place instead (2.39).
    const path = at === 0 ? repository.root : listed;
    return path !== undefined && lines.includes(`branch ${ref}`) && existsSync(path) ? [path] : [];
  });
}

/** While it lasts, the branch counts as checked out nowhere; at its end it is set to what the rebase made. */
async function findRebase({ commonDir }: Repository, ref: string): Promise<string | undefined> {
  const linked = await readdir(join(commonDir, "worktrees")).catch(() => []);
  const folders = [commonDir, ...linked.map((name) => join(commonDir, "worktrees", name))];
  const files = folders.flatMap((folder) =>
    ["rebase-merge", "rebase-apply"].map((way) => join(folder, way, "head-name")),
  );
  for (const file of files) {
    const name = await readFile(file, "utf8").catch(() => undefined);
    if (name?.trim() === ref) return file;
  }
  return undefined;
}
