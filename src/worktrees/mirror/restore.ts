/** Restores a worktree from a snapshot, so that uncommitted work is uncommitted again. */
import { RookeryError } from "../../domain/index.ts";
import { checkBranchName } from "../branch.ts";
import { leaseWorktree } from "../lease.ts";
import { findWorktree, saveWorktree, worktreePath, type Worktree } from "../record.ts";
import { removeWorktree } from "../remove.ts";
import type { Repository } from "../repository.ts";
import { snapshotWorktree, type SnapshotOptions } from "./snapshot.ts";

export interface RestoreOptions extends Omit<Worktree, "path"> {
  /** The commit of `snapshotWorktree`. Its objects must be in the repository. */
  readonly snapshot: string;
  /** Files that are not part of a snapshot. */
  readonly exclude?: SnapshotOptions["exclude"];
  readonly signal?: AbortSignal | undefined;
}

export interface RestoredWorktree {
  readonly worktree: Worktree;
  /** The ref that keeps what the worktree of an earlier run on this host had and the snapshot does not. */
  readonly left?: string | undefined;
}

/**
 * Creates the worktree of a task from a snapshot. Replaces one that an earlier run left on this host. Safe to repeat after
 * an interruption.
 */
export async function restoreWorktree(repository: Repository, options: RestoreOptions): Promise<RestoredWorktree> {
  const { id, branch, base, baseCommit, snapshot, signal } = options;
  checkBranchName(branch);
  const [, head = "", tip = head] = (
    await repository.git(["rev-list", "--parents", "--max-count=1", snapshot], { signal })
  ).split(" ");
  if (head === "") throw new RookeryError("worktree_missing", `${snapshot} is not a snapshot of a worktree`);
  const worktree = { id, branch, base, baseCommit, path: worktreePath(repository, id) };
  const left = await removeEarlier(repository, worktree, options);
  await repository.exclusive(async () => {
    await repository.git(["update-ref", `refs/heads/${branch}`, tip], { signal });
    await saveWorktree(repository, worktree);
  }, signal);
  await leaseWorktree(repository, { id, branch, base: baseCommit, signal });
  const at = { cwd: worktree.path, signal };
  if (head !== tip) await repository.git(["checkout", "--quiet", "--detach", head], at);
  await repository.git(["read-tree", "-m", "-u", "HEAD", snapshot], at);
  await repository.git(["read-tree", "HEAD"], at); // the index only: the files stay as uncommitted work
  await repository.gitTry(["update-index", "-q", "--refresh"], at);
  return { worktree, ...(left !== undefined && { left }) };
}

/** Keeps the work of an earlier run on this host in a ref, if the snapshot does not have it. */
async function removeEarlier(
  repository: Repository,
  worktree: Worktree,
  { snapshot, exclude, signal }: RestoreOptions,
): Promise<string | undefined> {
  const known = await findWorktree(repository, worktree.id);
  if (known === undefined) return undefined;
  const message = `Left in the worktree of task ${worktree.id}\n`;
  const found = await snapshotWorktree(known, repository, { message, exclude, signal }).catch(() => undefined); // deleted, or half restored
  const branch = await repository.gitTry(["rev-parse", "--verify", "--quiet", `refs/heads/${known.branch}`], {
    signal,
  });
  const left = found?.commit ?? (branch.code === 0 ? branch.stdout.trim() : undefined);
  const isKnown =
    found === undefined
      ? left === undefined || (await isAncestor(repository, left, snapshot, signal))
      : found.content === (await readContent(repository, snapshot, signal));
  // One ref for each commit: a restore that is repeated must not replace what the first one kept.
  const ref = `refs/rookery/left/${worktree.id}-${left?.slice(0, 12) ?? ""}`;
  if (!isKnown && left !== undefined) await repository.git(["update-ref", ref, left], { signal });
  await removeWorktree(repository, known, { force: true, signal });
  return isKnown ? undefined : ref;
}

async function isAncestor(repository: Repository, commit: string, of: string, signal?: AbortSignal): Promise<boolean> {
  return (await repository.gitTry(["merge-base", "--is-ancestor", commit, of], { signal })).code === 0;
}

async function readContent(repository: Repository, commit: string, signal?: AbortSignal): Promise<string> {
  const format = ["log", "--max-count=1", "--no-show-signature", "--format=%P %T", commit, "--"];
  return repository.git(format, { signal });
}
