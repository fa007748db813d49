/**
 * A folder that is held open: what is done in it is done there, whoever puts a symlink in its place meanwhile.
 *
 * On Linux a name is looked up below the open folder (`/proc/self/fd/N/name`), so nothing between the check and the use
 * can lead elsewhere. Node has no other way to say "below this folder": on macOS, and where there is no /proc, the same
 * questions are asked before and after, by path. There, somebody who swaps a folder for a link and back again in the
 * right microseconds can still win; written so, and not tried there.
 */
import { constants, existsSync } from "node:fs";
import { mkdir, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PathRefusal } from "./path-refusal.ts";

export interface HeldFolder extends AsyncDisposable {
  /** The path by which something in it is reached; the name must not have a slash in it. */
  at(name: string): string;
  /** For listing it, and for a child to work in. */
  readonly path: string;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Not among Node's constants; the same number on every Linux that Node runs on. Needs no right to list the folder. */
const O_PATH = 0o10000000;
const OPEN_FILES = "/proc/self/fd";
const byNumber = process.platform === "linux" && existsSync(OPEN_FILES);

/** `real` has no symlink in it; where one stands in it by now, a PathRefusal is thrown. */
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

/** Makes what is missing of it, each folder within the one before. */
export async function holdMade(real: string): Promise<HeldFolder> {
  try {
    return await holdFolder(real);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(real) === real) throw error;
  }
  await using parent = await holdMade(dirname(real));
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
  return new PathRefusal(`${path} was moved meanwhile; look again`);
}
