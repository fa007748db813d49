/** Repositories within a worktree: what only they have goes with it. */
import { existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "./if-absent.ts";
import { listGitlinks } from "./gitlinks.ts";
import { findLinkedWorktree } from "./linked-worktrees.ts";
import { displayName, isUtf8Name } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

interface NestedRepository {
  readonly name: string;
  /** Git's folder of it, gone with the worktree. */
  readonly gitDir: string | undefined;
  /** That of the same submodule in the main checkout, which may not be there. */
  readonly mainGitDir: string;
}

/** Folders in folders, until a repository is found. */
const MAX_DEPTH = 20;

/**
 * Submodules, at any depth, with commits or stashes that neither the main checkout's have nor, as far as they know, those
 * they come from. Also those that the branch has no more: their folder is gone, but not what git keeps of them.
 */
export async function listSubmodulesWithOwnCommits(repository: Repository, worktree: Worktree): Promise<readonly string[]> {
  const linked = await findLinkedWorktree(repository, worktree.path);
  if (linked === undefined) return [];
  const kept = join(repository.commonDir, "modules");
  const nested = [
    ...(await listModules(join(linked.dir, "modules"), kept, "", MAX_DEPTH)),
    ...(await listEmbedded(repository, worktree, kept)),
  ];
  const lost: string[] = [];
  for (const one of nested) if (await hasOwnCommits(repository, one)) lost.push(one.name);
  return lost;
}

async function listModules(folder: string, kept: string, above: string, deep: number): Promise<readonly NestedRepository[]> {
  if (deep === 0) return [];
  const entries = await ifAbsent(readdir(folder, { withFileTypes: true }), []);
  const found = entries
    .filter((entry) => entry.isDirectory())
    .map(async (entry): Promise<readonly NestedRepository[]> => {
      const own = join(folder, entry.name);
      const its = join(kept, entry.name);
      const name = above + entry.name;
      if (!existsSync(join(own, "HEAD"))) return listModules(own, its, `${name}/`, deep - 1);
      const within = await listModules(join(own, "modules"), join(its, "modules"), `${name}/`, deep - 1);
      return [{ name, gitDir: own, mainGitDir: its }, ...within];
    });
  return (await Promise.all(found)).flat();
}

/** Repositories that were made in the folder and then added as they are: all that git keeps of them is in there too. */
async function listEmbedded(repository: Repository, { path }: Worktree, kept: string): Promise<readonly NestedRepository[]> {
  const links = await listGitlinks(repository, { cwd: path });
  const found = links.map(async ({ name, path: folder }): Promise<readonly NestedRepository[]> => {
    const own = join(folder, ".git");
    const isFolder = (await ifAbsent(lstat(own), undefined))?.isDirectory() === true;
    // Of one whose name is not UTF-8 git cannot be asked: it counts as one that has commits of its own.
    if (!isUtf8Name(name)) return [{ name: displayName(name), gitDir: undefined, mainGitDir: "" }];
    return isFolder ? [{ name: displayName(name), gitDir: own, mainGitDir: join(kept, displayName(name)) }] : [];
  });
  return (await Promise.all(found)).flat();
}

async function hasOwnCommits(repository: Repository, { gitDir, mainGitDir }: NestedRepository): Promise<boolean> {
  if (gitDir === undefined) return true;
  // Its own work tree may be gone, where git would go first. Nothing is fetched for it.
  const inOwn = { gitDir: gitDir, workTree: gitDir, protocols: undefined };
  const [head, refs] = await Promise.all([
    repository.gitTry(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], inOwn),
    repository.git(["for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash"], inOwn),
  ]);
  const tips = [...new Set(`${head.stdout}\n${refs}`.split("\n").filter((line) => line !== ""))];
  const unknown = existsSync(mainGitDir) ? await listMissingCommits(repository, mainGitDir, tips) : tips;
  if (unknown.length === 0) return false;
  return (await repository.git(["rev-list", "--count", ...unknown, "--not", "--remotes"], inOwn)) !== "0";
}

async function listMissingCommits(repository: Repository, dir: string, commits: readonly string[]): Promise<readonly string[]> {
  const input = commits.map((commit) => `${commit}\n`).join("");
  const inKept = { gitDir: dir, workTree: dir, protocols: undefined, input };
  const known = await repository.git(["cat-file", "--batch-check"], inKept);
  return known.split("\n").flatMap((line) => (line.endsWith(" missing") ? [line.split(" ")[0] ?? ""] : []));
}
