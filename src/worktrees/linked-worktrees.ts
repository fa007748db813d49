/** Reads git's records of linked worktrees as files. Running git would take half as long as creating a worktree. */
import { existsSync } from "node:fs";
import { lstat, readFile, readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ifAbsent } from "./if-absent.ts";
import type { Repository } from "./repository.ts";

export interface LinkedWorktree {
  /** Its git folder, `.git/worktrees/NAME`. */
  readonly dir: string;
  /** The worktree's folder according to git. */
  readonly path: string;
  /** True if it is intact and the folder points back to `dir`. False if the folder was moved or replaced. */
  readonly pointsBack: boolean;
  /** False if the checkout was interrupted. Git marks such a worktree, and nobody can have worked in it. */
  readonly isFinished: boolean;
  /** The reason for which the user locked it, such as a disk that is not always mounted. Undefined if it is not locked. */
  readonly lock?: string | undefined;
  /** The branch that is checked out: `refs/heads/…`. Undefined for a detached HEAD. */
  readonly ref?: string | undefined;
}

/** Lock reason that git 2.39 writes with LC_ALL=C. */
const UNFINISHED = "initializing";

export async function findLinkedWorktree(repository: Repository, path: string): Promise<LinkedWorktree | undefined> {
  return (await listLinkedWorktrees(repository)).find((linked) => linked.path === path);
}

export async function listLinkedWorktrees({
  commonDir,
}: Pick<Repository, "commonDir">): Promise<readonly LinkedWorktree[]> {
  const folder = join(commonDir, "worktrees");
  const names = await ifAbsent(readdir(folder), []);
  return Promise.all(names.map((name) => readLinked(join(folder, name))));
}

async function readLinked(dir: string): Promise<LinkedWorktree> {
  const [gitdir, head, lock] = await Promise.all(["gitdir", "HEAD", "locked"].map((name) => readLine(join(dir, name))));
  const dotGit = gitdir === undefined ? undefined : resolve(dir, gitdir);
  const path = dotGit === undefined ? "" : basename(dotGit) === ".git" ? dirname(dotGit) : dotGit;
  const isFinished = lock !== UNFINISHED && dotGit !== undefined;
  const pointsBack = path !== "" && head !== undefined && (await readGitDirPointer(path)) === dir;
  const ref = head?.startsWith("ref: ") ? head.slice("ref: ".length) : undefined;
  return { dir, path, pointsBack, isFinished, ref, ...(isFinished && { lock }) };
}

/**
 * True if the folder is a worktree of this repository and both point to each other. In another folder, git would find the
 * user's checkout around it. Repairs links that broke when the whole repository was moved.
 */
export async function isLinkedWorktree(repository: Repository, path: string): Promise<boolean> {
  const folder = join(repository.commonDir, "worktrees");
  const dir = await readGitDirPointer(path);
  const linked = dir === undefined || dirname(dir) !== folder ? undefined : await readLinked(dir);
  if (linked?.path === path && linked.pointsBack) return true;
  // Here `git worktree repair` would take over another worktree, or one of the repository that this one was copied from.
  if (dir !== undefined && (linked === undefined || linked.pointsBack)) return false;
  await repository.gitTry(["worktree", "repair", path]);
  return (await listLinkedWorktrees(repository)).some((repaired) => repaired.path === path && repaired.pointsBack);
}

/** Returns the folder that the `.git` file of a linked worktree names. Undefined if there is no such file or folder. */
export async function readGitDirPointer(path: string): Promise<string | undefined> {
  const file = join(path, ".git");
  const isFile = (await ifAbsent(lstat(file), undefined))?.isFile() === true;
  const [, dir] = /^gitdir: (.+)$/.exec((isFile && (await readLine(file))) || "") ?? [];
  if (dir === undefined) return undefined;
  const found = resolve(path, dir);
  return existsSync(found) ? found : undefined;
}

async function readLine(file: string): Promise<string | undefined> {
  const text = await ifAbsent(readFile(file, "utf8"), undefined);
  return text?.replace(/\r?\n$/, "");
}
