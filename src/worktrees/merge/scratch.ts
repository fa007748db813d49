/** Temporary checkouts for merge gates, in `.rookery/merging`. Each has a detached HEAD and is removed after the merge. */
import { lstat, mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { judgeOwner, parseOwnerText } from "../../stdx/index.ts";
import { listLinkedWorktrees } from "../linked-worktrees.ts";
import { removeTree } from "../remove.ts";
import type { Repository } from "../repository.ts";
import { checkOutSubmodules } from "../submodules.ts";

export interface ScratchCheckout extends AsyncDisposable {
  readonly path: string;
}

let checkoutCount = 0;

/** Creates a checkout of `commit`. The folder name contains the marker of its owner. */
export async function openScratchCheckout(
  repository: Repository,
  { commit, marker, signal }: { commit: string; marker: string; signal?: AbortSignal | undefined },
): Promise<ScratchCheckout> {
  const folder = await makeMergingFolder(repository);
  checkoutCount += 1;
  const path = join(folder, `${marker}-${checkoutCount}`);
  const close = (): Promise<void> => discard(repository, path);
  try {
    const add = ["worktree", "add", "--quiet", "--detach", path, commit];
    await repository.exclusive(async () => {
      await repository.git(add, { signal });
      await checkOutSubmodules(repository, { path }, signal);
    }, signal);
  } catch (error) {
    await close();
    throw error;
  }
  return { path, [Symbol.asyncDispose]: close };
}

/** Removes the checkouts of dead owners. Returns how many. */
export async function sweepMerges(repository: Repository): Promise<number> {
  const folder = join(repository.root, ".rookery", "merging");
  if (!(await isFolder(folder))) return 0;
  const names = await readdir(folder);
  let removed = 0;
  for (const name of names) {
    const path = join(folder, name);
    const owner = name.replace(/-\d+$/, "");
    const state = parseOwnerText(owner) === undefined ? "alive" : judgeOwner(owner); // keep folders that Rookery did not create
    if (state !== "dead" && !(state === "unknown" && (await isAbandoned(path)))) continue;
    await discard(repository, path);
    removed += 1;
  }
  return removed;
}

/** No merge takes this long. An older checkout is abandoned even if its owner cannot be checked from here. */
const ABANDONED_MS = 24 * 60 * 60 * 1_000;

async function isAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > ABANDONED_MS;
}

/** Rejects with `worktree_missing` if the folder is a symbolic link, which could come from the repository. */
async function makeMergingFolder({ root }: Repository): Promise<string> {
  const folders = [join(root, ".rookery"), join(root, ".rookery", "merging")];
  for (const folder of folders) {
    await mkdir(folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
    if (await isFolder(folder)) continue;
    throw new RookeryError("worktree_missing", `${folder} is not a regular folder; remove it, then try again`);
  }
  return join(root, ".rookery", "merging");
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Removes the files and git's record. `git worktree remove` would fail for an incomplete checkout. */
async function discard(repository: Repository, path: string): Promise<void> {
  await removeTree(path);
  for (const linked of await listLinkedWorktrees(repository)) {
    const isIts = linked.path === "" ? basename(linked.dir) === basename(path) : linked.path === path;
    if (isIts) await removeTree(linked.dir);
  }
}
