/** Which repository a working folder belongs to, found without starting git. */
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RookeryError } from "../domain/errors.ts";

/** The nearest folder upwards that is a repository for git, or the folder itself; symlinks resolved. */
export async function repositoryRoot(cwd: string): Promise<string> {
  const start = await realFolder(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    if (await isRepository(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

/** Where a working folder is: what is checked out around it, and the repository whose configuration holds there. */
export interface RepositoryLocation {
  readonly root: string;
  /** The same folder, but for the worktree of a task: what its agent's program finds is there. */
  readonly checkout: string;
}

/**
 * A task is configured and trusted as its repository is, whatever its branch says: its worktree lies in
 * `.rookery/worktrees/` of that. Nobody but the repository can put one there.
 */
export async function locateRepository(cwd: string): Promise<RepositoryLocation> {
  const checkout = await repositoryRoot(cwd);
  const worktrees = dirname(checkout);
  const root = dirname(dirname(worktrees));
  const isOurs = basename(worktrees) === "worktrees" && basename(dirname(worktrees)) === ".rookery";
  return isOurs && (await isRepository(join(root, ".git"))) ? { root, checkout } : { root: checkout, checkout };
}

/** The one name that a folder has in the log. Rejects with `cwd_missing` where there is no such folder. */
export async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw new RookeryError("cwd_missing", `the working folder ${path} does not exist; choose another with --cwd`, {
      cause,
    });
  }
  throw new RookeryError("cwd_missing", `${path} is not a folder; choose another with --cwd`);
}

/** A worktree's is a file. An empty folder is none: Codex's sandbox leaves one in each place that it may write to. */
async function isRepository(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return found !== undefined;
  return stat(join(path, "HEAD")).then(
    () => true,
    () => false,
  );
}
