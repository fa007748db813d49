/** Finds the repository of a working directory without starting git. */
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RookeryError } from "../domain/errors.ts";

/** Returns the nearest parent that is a git repository, or the directory itself. Resolves symbolic links. */
export async function repositoryRoot(cwd: string): Promise<string> {
  const start = await realFolder(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    if (await isRepository(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

/** The location of a working directory: its checkout, and the repository whose configuration applies. */
export interface RepositoryLocation {
  readonly root: string;
  /** The same as `root`, except in the worktree of a task, where the agent's program finds its files. */
  readonly checkout: string;
}

/**
 * Locates the repository of a working directory. A task uses the configuration and trust of its repository,
 * regardless of its branch: its worktree is in `.rookery/worktrees/` of that. Only the repository itself can put one
 * there.
 */
export async function locateRepository(cwd: string): Promise<RepositoryLocation> {
  const checkout = await repositoryRoot(cwd);
  const worktrees = dirname(checkout);
  const root = dirname(dirname(worktrees));
  const isOurs = basename(worktrees) === "worktrees" && basename(dirname(worktrees)) === ".rookery";
  return isOurs && (await isRepository(join(root, ".git"))) ? { root, checkout } : { root: checkout, checkout };
}

/** Resolves with the real path, which is the one in logs. Rejects with `cwd_missing` if it is not a directory. */
export async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw new RookeryError(
      "cwd_missing",
      `the working directory ${path} does not exist; choose another one with --cwd`,
      {
        cause,
      },
    );
  }
  throw new RookeryError("cwd_missing", `${path} is not a directory; choose another one with --cwd`);
}

/**
 * In a worktree, `.git` is a file. An empty directory does not count: Codex's sandbox leaves one in each directory
 * that it may write to.
 */
async function isRepository(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return found !== undefined;
  return stat(join(path, "HEAD")).then(
    () => true,
    () => false,
  );
}
