/** Where worktrees are: a folder in the user's checkout that git does not see and that no symlink leads out of. */
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { worktreePath } from "./record.ts";
import type { Repository } from "./repository.ts";

/** Before the id of what is being removed: no task is called so. */
export const REMOVED_PREFIX = ".removed-";

const EXCLUDE_LINE = "/.rookery/";

/** Makes the folder above it. Gives the path, and whether anything is there. */
export async function makeWorktreeParent(repository: Repository, id: string): Promise<{ path: string; isThere: boolean }> {
  const path = worktreePath(repository, id);
  const above = dirname(path);
  await addToGitExclude(repository);
  for (const folder of [dirname(above), above]) {
    if (!(await isPlainFolder(folder))) await mkdir(folder);
  }
  return { path, isThere: await isPlainFolder(path) };
}

/** Refuses to go on where something of the way is a symlink: what is written or removed could be anyone's. */
export async function checkWorktreeFolder(repository: Repository, id: string): Promise<boolean> {
  const path = worktreePath(repository, id);
  const above = dirname(path);
  return (await isPlainFolder(dirname(above))) && (await isPlainFolder(above)) && (await isPlainFolder(path));
}

async function isPlainFolder(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return true;
    const what = found.isSymbolicLink() ? "a symbolic link, which is not followed" : "no folder";
    throw new RookeryError("input_invalid", `${path} is ${what}; remove it, then try again`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Not in `.gitignore`, which is the user's and is committed; what else stands in the file is kept. */
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
