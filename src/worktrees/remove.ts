/** Removes a worktree: its folder, git's record of it, and its branch. Keeps unsaved work unless `force` is set. */
import { chmod, lstat, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deleteBranch } from "./branch.ts";
import { listLinkedWorktrees, findLinkedWorktree } from "./linked-worktrees.ts";
import { isEmptyLoss, lockedWorktreeError, findLoss, lossError, type KnownMerge } from "./loss.ts";
import { joinByteName } from "./byte-names.ts";
import { REMOVED_PREFIX, checkWorktreeFolder } from "./worktree-folder.ts";
import { checkWorktreeId, deleteWorktreeRecord, worktreePath, type Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";
import { measureDiskUsage } from "./size.ts";

export interface RemoveOptions extends KnownMerge {
  /** Also remove work that exists nowhere else. Default: false. */
  readonly force?: boolean | undefined;
  /** The branch it was merged into. Commits in that or any other branch are not lost. */
  readonly into?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Safe to repeat after an interrupted removal, and if the user deleted the folder. Keeps a branch that is checked out
 * elsewhere. Rejects with `worktree_unmerged`, or with `input_invalid` if part of the path is a symbolic link; nothing is
 * removed then. Returns the number of bytes freed.
 */
export async function removeWorktree(
  repository: Repository,
  worktree: Worktree,
  { force = false, mergedTip, signal }: RemoveOptions = {},
): Promise<{ freed: number }> {
  const id = checkWorktreeId(worktree.id);
  const path = worktreePath(repository, id);
  const own = { ...worktree, path };
  return repository.exclusive(async () => {
    const isThere = await checkWorktreeFolder(repository, id);
    const { code, stdout } = await repository.gitTry(["rev-parse", "--verify", "--quiet", `refs/heads/${own.branch}`]);
    const loss = force ? undefined : await findLoss(own, repository, { mergedTip });
    if (loss !== undefined && !isEmptyLoss(loss)) throw lossError(own, loss);
    const lock = force ? undefined : (await findLinkedWorktree(repository, path))?.lock;
    if (lock !== undefined) throw lockedWorktreeError(own, lock);
    // Rename first: a partly removed folder would look like one in which someone deleted files.
    const removed = join(dirname(path), `${REMOVED_PREFIX}${id}`);
    await removeTree(removed);
    if (isThere) await rename(path, removed);
    const freed = await measureDiskUsage(removed);
    for (const linked of await listLinkedWorktrees(repository)) {
      if (linked.path === path) await removeTree(linked.dir);
    }
    if (code === 0) await removeBranch(repository, own.branch, stdout.trim());
    await removeTree(removed);
    await deleteWorktreeRecord(repository, id);
    return { freed };
  }, signal);
}

/** Deletes the branch only if it still points to `tip`, so later commits are kept. */
async function removeBranch(repository: Repository, branch: string, tip: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const head = await repository.gitTry(["symbolic-ref", "--quiet", "HEAD"]);
  const isUsed =
    head.stdout.trim() === ref || (await listLinkedWorktrees(repository)).some((linked) => linked.ref === ref);
  if (isUsed || !(await deleteBranch(repository, branch, tip))) return;
  await repository.gitTry(["config", "--remove-section", `branch.${branch}`]); // its upstream, if it had one
}

/** Removes links without following them. Some tools write-protect their folders, so it retries with changed modes. */
export async function removeTree(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 5 };
  await rm(path, options).catch(async (error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    await unprotect(Buffer.from(path));
    await rm(path, options);
  });
}

async function unprotect(path: Buffer): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path, { encoding: "latin1" })) await unprotect(joinByteName(path, name));
}
