/** Confines file access to a set of folders, even if symlinks point elsewhere. */
import { constants } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { holdFolder } from "./held-folder.ts";
import { PathRefusal } from "./path-refusal.ts";

/**
 * Resolves a path to its real path, which need not exist yet. A relative path starts at the first folder, which must
 * exist; the other folders may be missing. Rejects with a `PathRefusal` if the real path is in none of the folders.
 */
export async function confined(folders: readonly string[], path: string): Promise<string> {
  const [first = "", ...more] = folders;
  const root = await realpath(first);
  const real = await resolveExisting(resolve(root, path));
  if (isInside(root, real)) return real;
  for (const folder of more) {
    const other = await realpath(folder).catch(() => undefined);
    if (other !== undefined && isInside(other, real)) return real;
  }
  throw new PathRefusal(`${path} is outside the working folder and cannot be used`);
}

/**
 * Opens a regular file by its confined path. The file is looked up in its folder, which stays open meanwhile, so a
 * symlink that replaces the file or the folder is not followed. A FIFO does not block. A hard link to a file elsewhere
 * cannot be told from a regular file and is opened.
 */
export async function openPlain(path: string, flags: number): Promise<FileHandle> {
  await using folder = await holdFolder(dirname(path));
  const safe = flags | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(folder.at(basename(path)), safe, 0o666).catch((error: unknown) => {
    throw toReadableError(error, path);
  });
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw new PathRefusal(`${basename(path)} is ${stat.isDirectory() ? "a folder" : "not a regular file"}`);
}

/** Confines the path and opens the file. */
export async function openConfined(folders: readonly string[], path: string, flags: number): Promise<FileHandle> {
  return openPlain(await confined(folders, path), flags);
}

/** The message of the system would name the file by its file descriptor (`/proc/self/fd/N`). */
function toReadableError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENXIO":
      return new PathRefusal(`${basename(path)} is not a regular file`);
    case "EISDIR":
      return new PathRefusal(`${basename(path)} is a folder`);
    case "ELOOP":
      return new PathRefusal(`${path} was replaced by a symlink while it was opened; check it and try again`);
    case "ENOENT":
      return Object.assign(error as Error, { message: `${path} does not exist`, path });
    case "EACCES":
      return Object.assign(error as Error, { message: `${path} cannot be opened: permission denied`, path });
    default:
      return error;
  }
}

function isInside(root: string, path: string): boolean {
  const fromRoot = relative(root, path);
  return fromRoot !== ".." && !fromRoot.startsWith("../") && !isAbsolute(fromRoot);
}

/** Resolves the part of the path that exists. Refuses a dangling symlink, because a write would follow it. */
async function resolveExisting(path: string): Promise<string> {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...rest);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOTDIR") throw new PathRefusal(`a parent of ${at} is not a folder`);
      if (code === "ELOOP") throw new PathRefusal(`${at} is a symlink loop`);
      if (code !== "ENOENT" || dirname(at) === at) throw error;
      if (await isLink(at)) throw new PathRefusal(`${at} is a symlink to a missing file`);
      rest.unshift(basename(at));
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
}
