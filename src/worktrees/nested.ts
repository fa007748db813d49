/** Repositories within a worktree: what only they have goes with it. */
import { existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "./absent.ts";
import { gitlinksIn } from "./gitlinks.ts";
import { linkedAt } from "./linked.ts";
import { displayName, isUtf8Name } from "./names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

interface Nested {
  readonly name: string;
  /** Git's folder of it, gone with the worktree. */
  readonly own: string | undefined;
  /** That of the same submodule in the main checkout, which may not be there. */
  readonly kept: string;
}

/** Folders in folders, until a repository is found. */
const DEEPEST = 20;

/**
 * Submodules, at any depth, with commits or stashes that neither the main checkout's have nor, as far as they know, those
 * they come from. Also those that the branch has no more: their folder is gone, but not what git keeps of them.
 */
export async function commitsInSubmodules(repository: Repository, worktree: Worktree): Promise<readonly string[]> {
  const linked = await linkedAt(repository, worktree.path);
  if (linked === undefined) return [];
  const kept = join(repository.commonDir, "modules");
  const nested = [
    ...(await modulesIn(join(linked.dir, "modules"), kept, "", DEEPEST)),
    ...(await embeddedIn(repository, worktree, kept)),
  ];
  const lost: string[] = [];
  for (const one of nested) if (await hasOwnCommits(repository, one)) lost.push(one.name);
  return lost;
}

async function modulesIn(folder: string, kept: string, above: string, deep: number): Promise<readonly Nested[]> {
  if (deep === 0) return [];
  const entries = await ifAbsent(readdir(folder, { withFileTypes: true }), []);
  const found = entries
    .filter((entry) => entry.isDirectory())
    .map(async (entry): Promise<readonly Nested[]> => {
      const own = join(folder, entry.name);
      const its = join(kept, entry.name);
      const name = above + entry.name;
      if (!existsSync(join(own, "HEAD"))) return modulesIn(own, its, `${name}/`, deep - 1);
      const within = await modulesIn(join(own, "modules"), join(its, "modules"), `${name}/`, deep - 1);
      return [{ name, own, kept: its }, ...within];
    });
  return (await Promise.all(found)).flat();
}

/** Repositories that were made in the folder and then added as they are: all that git keeps of them is in there too. */
async function embeddedIn(repository: Repository, { path }: Worktree, kept: string): Promise<readonly Nested[]> {
  const links = await gitlinksIn(repository, { cwd: path });
  const found = links.map(async ({ name, path: folder }): Promise<readonly Nested[]> => {
    const own = join(folder, ".git");
    const isFolder = (await ifAbsent(lstat(own), undefined))?.isDirectory() === true;
    // Of one whose name is not UTF-8 git cannot be asked: it counts as one that has commits of its own.
    if (!isUtf8Name(name)) return [{ name: displayName(name), own: undefined, kept: "" }];
    return isFolder ? [{ name: displayName(name), own, kept: join(kept, displayName(name)) }] : [];
  });
  return (await Promise.all(found)).flat();
}

async function hasOwnCommits(repository: Repository, { own, kept }: Nested): Promise<boolean> {
  if (own === undefined) return true;
  // Its own work tree may be gone, where git would go first. Nothing is fetched for it.
  const inOwn = { gitDir: own, workTree: own, protocols: undefined };
  const [head, refs] = await Promise.all([
    repository.gitTry(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], inOwn),
    repository.git(["for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash"], inOwn),
  ]);
  const tips = [...new Set(`${head.stdout}\n${refs}`.split("\n").filter((line) => line !== ""))];
  const unknown = existsSync(kept) ? await missingIn(repository, kept, tips) : tips;
  if (unknown.length === 0) return false;
  return (await repository.git(["rev-list", "--count", ...unknown, "--not", "--remotes"], inOwn)) !== "0";
}

async function missingIn(repository: Repository, dir: string, commits: readonly string[]): Promise<readonly string[]> {
  const input = commits.map((commit) => `${commit}\n`).join("");
  const inKept = { gitDir: dir, workTree: dir, protocols: undefined, input };
  const known = await repository.git(["cat-file", "--batch-check"], inKept);
  return known.split("\n").flatMap((line) => (line.endsWith(" missing") ? [line.split(" ")[0] ?? ""] : []));
}
