/** Finds the checkouts of a repository in which a person works, without running git. */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { discoverRepository } from "./discover.ts";
import { listLinkedWorktrees } from "./linked-worktrees.ts";

export interface WorkingArea {
  /** The directory. Symbolic links are resolved. */
  readonly folder: string;
  /**
   * The roots of all checkouts of its repository, without worktrees of tasks. Only the worktree itself for a directory
   * in the worktree of a task, and empty for a directory without a repository.
   */
  readonly checkouts: readonly string[];
}

/** Rejects with `cwd_missing`. */
export async function findWorkingArea(cwd: string): Promise<WorkingArea> {
  const folder = await realpath(cwd).catch((cause: unknown): never => {
    throw new RookeryError("cwd_missing", `${cwd} does not exist; change to another directory`, { cause });
  });
  const found = await discoverRepository(folder).catch(() => undefined);
  if (found === undefined) return { folder, checkouts: [] };
  if (isInTaskWorktree(found.checkout)) return { folder, checkouts: [found.checkout] };
  const commonDir = await resolveCommonDir(found.gitDir);
  const linked = await listLinkedWorktrees({ commonDir });
  const main = basename(commonDir) === ".git" ? [dirname(commonDir)] : [];
  const paths = [found.checkout, ...main, ...linked.map(({ path }) => path)];
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return { folder, checkouts: [...new Set(real)].filter((path) => path !== "" && !isInTaskWorktree(path)) };
}

/** True for the worktree of a task and every path inside it. */
export function isInTaskWorktree(path: string): boolean {
  return `${path}${sep}`.includes(`${sep}${join(".rookery", "worktrees")}${sep}`);
}

/** A linked worktree has its own git folder, which names the shared one. */
async function resolveCommonDir(gitDir: string): Promise<string> {
  const named = await readFile(join(gitDir, "commondir"), "utf8").catch(() => undefined);
  return named === undefined ? gitDir : realpath(resolve(gitDir, named.trim())).catch(() => gitDir);
}
