/** The worktree of a task: made once, found again ever after, and mended where someone was killed while making it. */
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RookeryError, isRookeryError } from "../domain/index.ts";
import { checkBranchName, addLinkedWorktree, deleteBranch, hasBranch } from "./branch.ts";
import { toSystemError } from "./failure.ts";
import { listLinkedWorktrees, readGitDirPointer, isLinkedWorktree, type LinkedWorktree } from "./linked-worktrees.ts";
import { REMOVED_PREFIX, makeWorktreeParent } from "./worktree-folder.ts";
import { checkWorktreeId, findWorktree, deleteWorktreeRecord, saveWorktree, type Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";
import { removeStaleLock } from "./stale-lock.ts";
import { checkOutSubmodules } from "./submodules.ts";

export interface WorktreeLease {
  /** The task's. */
  readonly id: string;
  readonly branch: string;
  /** A branch, tag or commit; what the main checkout has if not said. Only read where there is no worktree yet. */
  readonly base?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Shares the objects of the repository, keeps a sparse checkout sparse, and touches nothing of the main checkout but the
 * list of what git does not see. Where it rejects, nothing of it is left, unless there was something before. Rejects with
 * `input_invalid`, `base_not_found`, `branch_exists`, `worktree_missing`, `disk_full`, `repository_locked`.
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
      const before = await findWorktree(repository, id); // someone may have made it meanwhile
      const worktree = before ?? { id, path, branch, base: from.base, baseCommit: from.baseCommit };
      const isReady = before !== undefined ? await checkExisting(repository, worktree, isThere) : await assertNotOccupied(worktree, isThere);
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

/** Nothing of ours was made there, so what is there is somebody else's. */
async function assertNotOccupied({ path }: Worktree, isThere: boolean): Promise<false> {
  if (!isThere || (await readdir(path)).length === 0) return false;
  throw new RookeryError("git_failed", `${path} is in the way, and no worktree of Rookery's; move it away`);
}

/** Is it there, whole? What was left half-made is removed; what may hold someone's work never is. */
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
    `${path} is there, but git does not know it any more; keep what you need of it, move it away, and try again`,
  );
}

async function removePartial(path: string, half: LinkedWorktree | undefined): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
  if (half !== undefined) await rm(half.dir, { recursive: true, force: true, maxRetries: 5 });
}

/** A folder that is not where it was may have been moved rather than deleted, with all that is not committed in it. */
async function rejectIfMoved({ path, branch }: Worktree, own: LinkedWorktree | undefined, all: readonly LinkedWorktree[]): Promise<void> {
  const moved = all.find((linked) => linked.ref === `refs/heads/${branch}` && linked.pointsBack);
  const place = moved?.path ?? (own && (await findRenamedFolder(path, own)));
  if (place !== undefined) {
    const back = moved === undefined ? `mv '${place}' '${path}'` : `git worktree move '${place}' '${path}'`;
    throw new RookeryError("worktree_missing", `the worktree ${path} is at ${place} now; bring it back: ${back}`);
  }
  if (own?.lock !== undefined) {
    const why = own.lock === "" ? "" : ` (${own.lock})`;
    const unlock = `git worktree unlock '${path}'`;
    throw new RookeryError(
      "worktree_missing",
      `${path} is not there, but is locked${why}; bring it back, or: ${unlock}`,
    );
  }
}

/** Only beside where it was: the whole disk is not searched. */
async function findRenamedFolder(path: string, own: LinkedWorktree): Promise<string | undefined> {
  const above = dirname(path);
  for (const name of await readdir(above)) {
    if (name.startsWith(REMOVED_PREFIX)) continue;
    if ((await readGitDirPointer(join(above, name))) === own.dir) return join(above, name);
  }
  return undefined;
}

async function createWorktree(repository: Repository, worktree: Worktree, isNew: boolean, signal?: AbortSignal): Promise<void> {
  const { id, path, branch, baseCommit } = worktree;
  if (isNew) await saveWorktree(repository, worktree);
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
