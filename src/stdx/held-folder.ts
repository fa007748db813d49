/**
 * A folder that is held open, so that replacing it with a symlink does not redirect later operations.
 *
 * On Linux, names are looked up below the open folder (`/proc/self/fd/N/name`). Node has no `openat`: on macOS, and
 * without /proc, the path is checked before and after instead. An attacker who swaps the folder for a symlink and back
 * between the checks can still win there. Not tested on macOS.
 */
import { constants, existsSync } from "node:fs";
import { mkdir, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PathRefusal } from "./path-refusal.ts";

export interface HeldFolder extends AsyncDisposable {
  /** The path of an entry of the folder. The name must not contain a slash. */
  at(name: string): string;
  /** The path of the folder, for listing it or as a child's working directory. */
  readonly path: string;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Missing from Node's constants; the same on every Linux that Node supports. Needs no read permission. */
const O_PATH = 0o10000000;
const OPEN_FILES = "/proc/self/fd";
const byNumber = process.platform === "linux" && existsSync(OPEN_FILES);

/** `real` must be a real path. Rejects with a `PathRefusal` if a part of it has become a symlink. */
export async function holdFolder(real: string): Promise<HeldFolder> {
  const flags = (byNumber ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW;
  const folder = await open(real, flags).catch((error: unknown) => {
    if (["ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw moved(real);
    throw error;
  });
  try {
    if (!(await isStillAt(folder, real))) throw moved(real);
  } catch (error) {
    await folder.close();
    throw error;
  }
  const path = byNumber ? `${OPEN_FILES}/${folder.fd}` : real;
  return { path, at: (name) => join(path, name), [Symbol.asyncDispose]: () => folder.close() };
}

/** Like `holdFolder`, but creates missing folders, each one inside its open parent. */
export async function holdOrMakeFolder(real: string): Promise<HeldFolder> {
  try {
    return await holdFolder(real);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(real) === real) throw error;
  }
  await using parent = await holdOrMakeFolder(dirname(real));
  await mkdir(parent.at(basename(real))).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
  return await holdFolder(real);
}

async function isStillAt(folder: FileHandle, real: string): Promise<boolean> {
  if (byNumber) return (await readlink(`${OPEN_FILES}/${folder.fd}`)) === real;
  const [opened, found] = [await folder.stat(), await stat(real)];
  return opened.ino === found.ino && opened.dev === found.dev && (await realpath(real)) === real;
}

function moved(path: string): PathRefusal {
  return new PathRefusal(`${path} was moved while it was opened; check it and try again`);
}
