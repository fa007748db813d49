/** The `.rookery/worktrees` folder of the user's checkout. Git ignores it, and no part of its path may be a symbolic link. */
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { worktreePath } from "./record.ts";
import type { Repository } from "./repository.ts";

/** Prefix for a folder that is being removed. A task id cannot start with it. */
export const REMOVED_PREFIX = ".removed-";

const EXCLUDE_LINE = "/.rookery/";

/** Creates the parent folder of a worktree. Returns the path of the worktree and whether that folder exists. */
export async function makeWorktreeParent(
  repository: Repository,
  id: string,
): Promise<{ path: string; isThere: boolean }> {
  const path = worktreePath(repository, id);
  const above = dirname(path);
  await addToGitExclude(repository);
  for (const folder of [dirname(above), above]) {
    if (!(await isPlainFolder(folder))) await mkdir(folder);
  }
  return { path, isThere: await isPlainFolder(path) };
}

/** True if the folder exists. Rejects with `input_invalid` if part of its path is a symbolic link, which could lead anywhere. */
export async function checkWorktreeFolder(repository: Repository, id: string): Promise<boolean> {
  const path = worktreePath(repository, id);
  const above = dirname(path);
  return (await isPlainFolder(dirname(above))) && (await isPlainFolder(above)) && (await isPlainFolder(path));
}

async function isPlainFolder(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return true;
    const what = found.isSymbolicLink() ? "a symbolic link, which Rookery does not follow" : "not a folder";
    throw new RookeryError("input_invalid", `${path} is ${what}; remove it, then try again`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Appends to `.git/info/exclude`, because `.gitignore` is a committed file of the user. */
async function addToGitExclude({ commonDir }: Repository): Promise<void> {
  const file = join(commonDir, "info", "exclude");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  if (text.split(/\r?\n/).includes(EXCLUDE_LINE)) return;
  await mkdir(dirname(file), { recursive: true });
  const between = text === "" || text.endsWith("\n") ? "" : "\n";
  await writeFile(file, `${between}${EXCLUDE_LINE}\n`, { flag: "a" });
}
