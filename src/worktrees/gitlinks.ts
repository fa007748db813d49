/**
 * Gitlinks: nested repositories in the index of a checkout. Each is a submodule or a repository that was added directly.
 *
 * Git would run `git status` in each of them with their own configuration, which is untrusted. Therefore git compares only
 * their commits (`--ignore-submodules=dirty`), and this module compares their files with the configuration of the outer
 * repository.
 */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { resolveGitDir } from "./discover.ts";
import { isUtf8Name, displayName, readNames, type ByteName } from "./byte-names.ts";
import type { Repository, RepositoryRunOptions } from "./repository.ts";

export interface Gitlink {
  readonly name: ByteName;
  readonly path: string;
}

/** Nesting limit. Deeper repositories count as changed. */
const MAX_DEPTH = 10;

/** Lists the gitlinks that are checked out. */
export async function listGitlinks(repository: Repository, run: RepositoryRunOptions): Promise<readonly Gitlink[]> {
  const cwd = run.cwd ?? repository.root;
  const lines = await readNames(repository, ["ls-files", "--stage", "-z"], run);
  const names = new Set(
    lines.filter((line) => line.startsWith("160000 ")).map((line) => line.slice(line.indexOf("\t") + 1)),
  );
  const links = await Promise.all(
    [...names].map(async (name): Promise<readonly Gitlink[]> => {
      const bytes = Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from(name, "latin1"), Buffer.from("/.git")]);
      const isThere = await lstat(bytes).then(
        () => true,
        () => false,
      );
      return isThere ? [{ name, path: join(cwd, displayName(name)) }] : [];
    }),
  );
  return links.flat();
}

/** Lists the gitlinks with changes in their files or their own submodules. */
export async function listChangedGitlinks(
  repository: Repository,
  run: RepositoryRunOptions,
): Promise<readonly ByteName[]> {
  return listChanged(repository, run, MAX_DEPTH);
}

async function listChanged(
  repository: Repository,
  run: RepositoryRunOptions,
  depth: number,
): Promise<readonly ByteName[]> {
  const changed: ByteName[] = [];
  for (const link of await listGitlinks(repository, run)) {
    if (await isChanged(repository, link, run.signal, depth)) changed.push(link.name);
  }
  return changed;
}

/** Lists ignored files in nested repositories at any depth, relative to the checkout. */
export async function listIgnoredInGitlinks(
  repository: Repository,
  run: RepositoryRunOptions,
): Promise<readonly ByteName[]> {
  return listIgnored(repository, run, MAX_DEPTH);
}

async function listIgnored(
  repository: Repository,
  run: RepositoryRunOptions,
  depth: number,
): Promise<readonly ByteName[]> {
  const ignored: ByteName[] = [];
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--directory"];
  for (const link of depth === 0 ? [] : await listGitlinks(repository, run)) {
    const nested = await nestedRunOptions(repository, link, run.signal);
    if (nested === undefined) continue; // it counts as changed
    const names = await readNames(repository, args, nested.run);
    const deeper = await listIgnored(repository, nested.run, depth - 1);
    for (const name of [...names, ...deeper]) ignored.push(`${link.name}/${name}`);
  }
  return ignored;
}

/** Returns the commit that is checked out in a nested repository. Undefined if it is broken. */
export async function readGitlinkCommit(
  repository: Repository,
  link: Gitlink,
  signal?: AbortSignal,
): Promise<string | undefined> {
  return (await nestedRunOptions(repository, link, signal))?.head;
}

/** Options to run git on the files of a nested repository with the configuration of the outer one. Undefined if it is broken. */
async function nestedRunOptions(
  repository: Repository,
  { name, path }: Gitlink,
  signal: AbortSignal | undefined,
): Promise<{ readonly run: RepositoryRunOptions; readonly head: string } | undefined> {
  const gitDir = isUtf8Name(name) ? await resolveGitDir(path) : undefined;
  if (gitDir === undefined) return undefined;
  const own = { cwd: path, gitDir, workTree: path, protocols: undefined, signal };
  const where = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--verify", "HEAD^{commit}"];
  const [common, head] = (await repository.gitTry(where, own)).stdout.split("\n");
  if (!common || !head) return undefined;
  const index = join(gitDir, "index");
  return { run: { ...own, gitDir: repository.commonDir, index, objects: join(common, "objects") }, head };
}

/** A repository that cannot be read counts as changed: it may contain work. */
async function isChanged(
  repository: Repository,
  link: Gitlink,
  signal: AbortSignal | undefined,
  depth: number,
): Promise<boolean> {
  const nested = depth > 0 ? await nestedRunOptions(repository, link, signal) : undefined;
  if (nested === undefined) return true;
  const { run, head } = nested;
  const checks = [
    ["diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=dirty", head, "--"],
    ["diff-files", "--name-only", "-z", "--ignore-submodules=dirty", "--"],
    ["ls-files", "--others", "--exclude-standard", "-z", "--directory", "--no-empty-directory"],
  ];
  for (const args of checks) {
    const { code, bytes } = await repository.gitTry(args, run);
    if (code !== 0 || bytes.length > 0) return true;
  }
  return (await listChanged(repository, run, depth - 1)).length > 0;
}
