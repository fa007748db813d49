/** Creates the worktree of a task, finds it again later, and repairs one whose creation was interrupted. */
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RookeryError, isRookeryError } from "../domain/index.ts";
import { checkBranchName, addLinkedWorktree, deleteBranch, hasBranch } from "./branch.ts";
import { toSystemError } from "./failure.ts";
import { listLinkedWorktrees, readGitDirPointer, isLinkedWorktree, type LinkedWorktree } from "./linked-worktrees.ts";
import { REMOVED_PREFIX, makeWorktreeParent } from "./worktree-folder.ts";
import {
  checkWorktreeId,
  deleteSetUpRecord,
  deleteWorktreeRecord,
  findWorktree,
  saveWorktree,
  type Worktree,
} from "./record.ts";
import type { Repository } from "./repository.ts";
import { removeStaleLock } from "./stale-lock.ts";
import { checkOutSubmodules } from "./submodules.ts";

export interface WorktreeLease {
  /** Id of the task. */
  readonly id: string;
  readonly branch: string;
  /** A branch, tag or commit. Ignored if the worktree exists. Default: the commit of the main checkout. */
  readonly base?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the worktree of a task, and creates it if it does not exist.
 *
 * The worktree shares the objects of the repository and keeps a sparse checkout sparse. In the main checkout only
 * `.git/info/exclude` changes. Rejects with `input_invalid`, `base_not_found`, `branch_exists`, `worktree_missing`,
 * `disk_full` or `repository_locked`; a new worktree then leaves nothing behind.
 */
export async function leaseWorktree(repository: Repository, lease: WorktreeLease): Promise<Worktree> {
  const { id, branch, base, signal } = lease;
  checkWorktreeId(id);
  checkBranchName(branch);
  const known = await findWorktree(repository, id);
  const from = known ?? (await resolveBase(repository, base));
  return repository
    .exclusive(async () => {
      const { path, isThere } = await makeWorktreeParent(repository, id);
      const before = await findWorktree(repository, id); // another process may have created it in the meantime
      const worktree = before ?? { id, path, branch, base: from.base, baseCommit: from.baseCommit };
      const isReady =
        before !== undefined
          ? await checkExisting(repository, worktree, isThere)
          : await assertNotOccupied(worktree, isThere);
      if (isReady) await removeStaleLock(repository, path, signal);
      else await createWorktree(repository, worktree, before === undefined, signal);
      await checkOutSubmodules(repository, worktree, signal);
      return worktree;
    }, signal)
    .catch((error: unknown) => {
      throw toSystemError(error, repository.root);
    });
}

async function resolveBase(repository: Repository, base?: string): Promise<Pick<Worktree, "base" | "baseCommit">> {
  const { commit, branch } = base === undefined ? await repository.head() : await repository.resolve(base);
  return { base: branch ?? base ?? commit, baseCommit: commit };
}

/** Rejects with `git_failed` if the folder has content: without a record it is not a worktree of Rookery. */
async function assertNotOccupied({ path }: Worktree, isThere: boolean): Promise<false> {
  if (!isThere || (await readdir(path)).length === 0) return false;
  throw new RookeryError("git_failed", `${path} already exists and is not a Rookery worktree; move it away`);
}

/** True if the worktree exists and is complete. Removes an incomplete checkout, but nothing that may hold someone's work. */
async function checkExisting(repository: Repository, worktree: Worktree, isThere: boolean): Promise<boolean> {
  const { id, path } = worktree;
  const all = await listLinkedWorktrees(repository);
  const own = all.find((linked) => linked.path === path);
  if (own?.isFinished === false) await removePartial(path, own);
  const nameless = all.find((linked) => linked.path === "" && basename(linked.dir) === id);
  if (nameless !== undefined) await rm(nameless.dir, { recursive: true, force: true });
  if (own?.isFinished === false) return false;
  if (!isThere) {
    await rejectIfMoved(worktree, own, all);
    if (own !== undefined) await rm(own.dir, { recursive: true, force: true });
    return false;
  }
  if (own?.pointsBack === true) return true;
  if ((await readdir(path)).length === 0) {
    if (own !== undefined) await rm(own.dir, { recursive: true, force: true });
    return false;
  }
  if (await isLinkedWorktree(repository, path)) return true;
  throw new RookeryError(
    "worktree_missing",
    `${path} exists, but git no longer knows it as a worktree; copy what you need, move it away, then try again`,
  );
}

async function removePartial(path: string, half: LinkedWorktree | undefined): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
  if (half !== undefined) await rm(half.dir, { recursive: true, force: true, maxRetries: 5 });
}

/** Rejects with `worktree_missing` if the folder was moved or is locked: it may hold uncommitted work. */
async function rejectIfMoved(
  { path, branch }: Worktree,
  own: LinkedWorktree | undefined,
  all: readonly LinkedWorktree[],
): Promise<void> {
  const moved = all.find((linked) => linked.ref === `refs/heads/${branch}` && linked.pointsBack);
  const place = moved?.path ?? (own && (await findRenamedFolder(path, own)));
  if (place !== undefined) {
    const back = moved === undefined ? `mv '${place}' '${path}'` : `git worktree move '${place}' '${path}'`;
    throw new RookeryError("worktree_missing", `the worktree ${path} is now at ${place}; move it back: ${back}`);
  }
  if (own?.lock !== undefined) {
    const why = own.lock === "" ? "" : ` (${own.lock})`;
    const unlock = `git worktree unlock '${path}'`;
    throw new RookeryError(
      "worktree_missing",
      `${path} is missing, but the worktree is locked${why}; restore the folder, or unlock it: ${unlock}`,
    );
  }
}

/** Searches only the folder that contained it. */
async function findRenamedFolder(path: string, own: LinkedWorktree): Promise<string | undefined> {
  const above = dirname(path);
  for (const name of await readdir(above)) {
    if (name.startsWith(REMOVED_PREFIX)) continue;
    if ((await readGitDirPointer(join(above, name))) === own.dir) return join(above, name);
  }
  return undefined;
}

async function createWorktree(
  repository: Repository,
  worktree: Worktree,
  isNew: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const { id, path, branch, baseCommit } = worktree;
  if (isNew) await saveWorktree(repository, worktree);
  await deleteSetUpRecord(repository, id);
  const withBranch = isNew || !(await hasBranch(repository, branch));
  try {
    await addLinkedWorktree(repository, worktree, withBranch, signal);
  } catch (error) {
    const half = (await listLinkedWorktrees(repository)).find((linked) => linked.path === path);
    await removePartial(path, half);
    const isOurs = withBranch && !isRookeryError(error, "branch_exists");
    if (isOurs) await deleteBranch(repository, branch, baseCommit);
    if (isNew && !(isOurs && (await hasBranch(repository, branch)))) await deleteWorktreeRecord(repository, id);
    throw error;
  }
}
