/** Reads the checked-out branch from the files of git, because starting git takes longer than a frame. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Returns a short commit id for a detached head, and undefined outside of a repository. */
export async function readBranch(folder: string): Promise<string | undefined> {
  try {
    const head = (await readFile(join(await findGitFolder(folder), "HEAD"), "utf8")).trim();
    const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
    return branch ?? head.slice(0, 8);
  } catch {
    return undefined;
  }
}

async function findGitFolder(start: string): Promise<string> {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, ".git");
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return path;
    if (found?.isFile() === true) {
      const [, target = ""] = /^gitdir: (.+)/.exec(await readFile(path, "utf8")) ?? [];
      return resolve(folder, target.trim());
    }
    if (dirname(folder) === folder) throw new Error("not a git repository");
  }
}
