/** Which repository a working folder belongs to, found without starting git. */
import { access, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RookeryError } from "../domain/errors.ts";

/** The nearest folder upwards that has a `.git` (a worktree's is a file), or the folder itself; symlinks resolved. */
export async function repositoryRoot(cwd: string): Promise<string> {
  const start = await realFolder(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    if (await exists(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return start;
  }
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

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
