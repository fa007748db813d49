/** Checks out the submodules of a worktree from the main checkout's copies, without the network. */
import { existsSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

interface Submodule {
  readonly name: string;
  readonly path: string;
  /** Its git folder in the main checkout. */
  readonly local: string;
}

/** Nesting limit. Deeper submodules stay empty. */
const MAX_DEPTH = 10;

/**
 * Each worktree has its own submodules. This clones them from those of the main checkout on the same disk, so nothing is
 * fetched. Submodules that the main checkout does not have stay empty; `git submodule update --init` fetches them.
 */
export async function checkOutSubmodules(
  repository: Repository,
  worktree: Pick<Worktree, "path">,
  signal?: AbortSignal,
): Promise<void> {
  await checkOutLevel(repository, worktree.path, join(repository.commonDir, "modules"), signal, 1);
}

async function checkOutLevel(
  repository: Repository,
  cwd: string,
  modules: string,
  signal: AbortSignal | undefined,
  depth: number,
): Promise<void> {
  if (depth > MAX_DEPTH || !existsSync(join(cwd, ".gitmodules")) || !existsSync(modules)) return;
  const all = await listSubmodules(repository, cwd, modules);
  const missing = all.filter(({ path, local }) => existsSync(local) && !existsSync(join(cwd, path, ".git")));
  if (missing.length > 0) {
    // Git does not clone submodules from local files by default (CVE-2022-39253: a repository could name any folder).
    // Here the folders come from Rookery, not from the repository.
    const settings: string[] = [];
    for (const { name, local } of missing) settings.push("-c", `submodule.${name}.url=${local}`);
    const paths = missing.map(({ path }) => path);
    const update = ["submodule", "--quiet", "update", "--init", "--checkout", "--", ...paths];
    await repository.git([...settings, ...update], { cwd, signal, protocols: "file" });
    await Promise.all(missing.map((submodule) => restoreRemoteUrl(repository, cwd, submodule)));
  }
  for (const { path, local } of all) {
    await checkOutLevel(repository, join(cwd, path), join(local, "modules"), signal, depth + 1);
  }
}

/** Sets the remote URL to that of the main checkout's submodule, so fetch and push work as usual. */
async function restoreRemoteUrl(repository: Repository, cwd: string, { path, local }: Submodule): Promise<void> {
  const url = await repository.gitTry(["config", "--file", join(local, "config"), "remote.origin.url"]);
  if (url.code !== 0) return;
  await repository.git(["config", "remote.origin.url", url.stdout.trim()], { cwd: join(cwd, path) });
}

/** Skips submodules whose name or path leaves the folder, and names that `git -c` cannot express. */
async function listSubmodules(repository: Repository, cwd: string, modules: string): Promise<readonly Submodule[]> {
  const read = ["config", "--file", ".gitmodules", "-z", "--get-regexp", String.raw`^submodule\..*\.path$`];
  const { stdout } = await repository.gitTry(read, { cwd });
  return stdout.split("\0").flatMap((entry) => {
    const at = entry.indexOf("\n");
    const name = entry.slice("submodule.".length, at - ".path".length);
    const path = entry.slice(at + 1);
    const local = resolve(modules, name);
    const isInside = local.startsWith(modules + sep) && resolve(cwd, path).startsWith(cwd + sep);
    return at > 0 && isInside && !name.includes("=") ? [{ name, path, local }] : [];
  });
}
