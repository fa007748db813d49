/** Keeps the file tools inside the working folder, wherever a symlink points. */
import { constants } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

/** What a tool says when it is asked for something it must not or cannot do. */
export class ToolRefusal extends Error {}

/** The real path of something in `cwd` that may not exist yet. Throws a ToolRefusal where it leads outside. */
export async function confined(cwd: string, path: string): Promise<string> {
  const root = await realpath(cwd);
  const real = await realOrFuture(resolve(root, path));
  const way = relative(root, real);
  if (way === ".." || way.startsWith("../") || isAbsolute(way)) {
    throw new ToolRefusal(`${path} is outside the working folder, where the file tools do not reach`);
  }
  return real;
}

/** Opens a plain file that was confined; a symlink put in its place meanwhile is not followed, a FIFO does not block. */
export async function openPlain(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666);
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw new ToolRefusal(`${basename(path)} is ${stat.isDirectory() ? "a folder" : "no plain file"}`);
}

/** Resolves what exists and keeps the rest as it is; a dangling link is refused, since writing would follow it. */
async function realOrFuture(path: string): Promise<string> {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...rest);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOTDIR") throw new ToolRefusal(`${at} is below something that is no folder`);
      if (code === "ELOOP") throw new ToolRefusal(`${at} is a symlink that leads to itself`);
      if (code !== "ENOENT" || dirname(at) === at) throw error;
      if (await isLink(at)) throw new ToolRefusal(`${at} is a symlink to nothing`);
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
