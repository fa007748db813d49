/** Keeps files inside the folders that were given, wherever a symlink points. */
import { constants } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { holdFolder } from "./held-folder.ts";
import { PathRefusal } from "./path-refusal.ts";

/**
 * The real path of something in the folders that may not exist yet; a relative one is of the first folder. Throws a
 * PathRefusal where it leads outside. A further folder that does not exist has nothing in it.
 */
export async function confined(folders: readonly string[], path: string): Promise<string> {
  const [first = "", ...more] = folders;
  const root = await realpath(first);
  const real = await realOrFuture(resolve(root, path));
  if (within(root, real)) return real;
  for (const folder of more) {
    const other = await realpath(folder).catch(() => undefined);
    if (other !== undefined && within(other, real)) return real;
  }
  throw new PathRefusal(`${path} is outside the working folder, where files are not reached from here`);
}

/**
 * Opens a plain file that was confined. It is looked up in its folder, which is held while it is: a symlink that was put
 * in the place of either meanwhile is not followed, and nothing outside is opened. A FIFO does not block. A hard link is
 * a file of the folder like any other: nothing tells it from one.
 */
export async function openPlain(path: string, flags: number): Promise<FileHandle> {
  await using folder = await holdFolder(dirname(path));
  const safe = flags | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(folder.at(basename(path)), safe, 0o666).catch((error: unknown) => {
    throw inWords(error, path);
  });
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw new PathRefusal(`${basename(path)} is ${stat.isDirectory() ? "a folder" : "no plain file"}`);
}

/** Confines and opens in one. */
export async function openConfined(folders: readonly string[], path: string, flags: number): Promise<FileHandle> {
  return openPlain(await confined(folders, path), flags);
}

/** The system's own words would name the file by the number of its folder. */
function inWords(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENXIO":
      return new PathRefusal(`${basename(path)} is no plain file`);
    case "EISDIR":
      return new PathRefusal(`${basename(path)} is a folder`);
    case "ELOOP":
      return new PathRefusal(`${path} became a symlink meanwhile; look again`);
    case "ENOENT":
      return Object.assign(error as Error, { message: `${path} does not exist`, path });
    case "EACCES":
      return Object.assign(error as Error, { message: `${path} may not be opened: the system forbids it`, path });
    default:
      return error;
  }
}

function within(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

/** Resolves what exists and keeps the rest as it is; a dangling link is refused, since writing would follow it. */
async function realOrFuture(path: string): Promise<string> {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...rest);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOTDIR") throw new PathRefusal(`${at} is below something that is no folder`);
      if (code === "ELOOP") throw new PathRefusal(`${at} is a symlink that leads to itself`);
      if (code !== "ENOENT" || dirname(at) === at) throw error;
      if (await isLink(at)) throw new PathRefusal(`${at} is a symlink to nothing`);
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
