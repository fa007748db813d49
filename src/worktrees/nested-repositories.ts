/** Finds nested repositories of a worktree whose commits would be lost with it. */
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
  /** Its git folder, which is removed with the worktree. Undefined if git cannot read it. */
  readonly gitDir: string | undefined;
  /** Git folder of the same submodule in the main checkout. It may not exist. */
  readonly mainGitDir: string;
}

/** Nesting limit for the search. */
const MAX_DEPTH = 20;

/**
 * Lists submodules, at any depth, with commits or stashes that neither the main checkout nor a known remote branch has.
 * Includes submodules that the branch has deleted: their git folder still exists.
 */
export async function listSubmodulesWithOwnCommits(
  repository: Repository,
  worktree: Worktree,
): Promise<readonly string[]> {
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

async function listModules(
  folder: string,
  kept: string,
  above: string,
  deep: number,
): Promise<readonly NestedRepository[]> {
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

/** Lists repositories that were created in the worktree and added directly. Their git folder is inside the worktree. */
async function listEmbedded(
  repository: Repository,
  { path }: Worktree,
  kept: string,
): Promise<readonly NestedRepository[]> {
  const links = await listGitlinks(repository, { cwd: path });
  const found = links.map(async ({ name, path: folder }): Promise<readonly NestedRepository[]> => {
    const own = join(folder, ".git");
    const isFolder = (await ifAbsent(lstat(own), undefined))?.isDirectory() === true;
    // Git cannot open a repository whose name is not UTF-8, so it counts as one with commits that exist nowhere else.
    if (!isUtf8Name(name)) return [{ name: displayName(name), gitDir: undefined, mainGitDir: "" }];
    return isFolder ? [{ name: displayName(name), gitDir: own, mainGitDir: join(kept, displayName(name)) }] : [];
  });
  return (await Promise.all(found)).flat();
}

async function hasOwnCommits(repository: Repository, { gitDir, mainGitDir }: NestedRepository): Promise<boolean> {
  if (gitDir === undefined) return true;
  // Its work tree may be gone, so the git folder is the work tree. Git must not fetch for it.
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

async function listMissingCommits(
  repository: Repository,
  dir: string,
  commits: readonly string[],
): Promise<readonly string[]> {
  const input = commits.map((commit) => `${commit}\n`).join("");
  const inKept = { gitDir: dir, workTree: dir, protocols: undefined, input };
  const known = await repository.git(["cat-file", "--batch-check"], inKept);
  return known.split("\n").flatMap((line) => (line.endsWith(" missing") ? [line.split(" ")[0] ?? ""] : []));
}
