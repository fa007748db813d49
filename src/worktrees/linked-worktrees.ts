/** What git itself keeps of a linked worktree: read as files, since asking git takes as long as half of making one. */
import { existsSync } from "node:fs";
import { lstat, readFile, readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ifAbsent } from "./if-absent.ts";
import type { Repository } from "./repository.ts";

export interface LinkedWorktree {
  /** Git's own folder of it. */
  readonly dir: string;
  /** The worktree's folder, as git remembers it. */
  readonly path: string;
  /** Is it whole, and does the folder point back? One that was moved away and replaced does not. */
  readonly pointsBack: boolean;
  /** Was it checked out whole? Git marks what it has not finished; nobody can have worked in it. */
  readonly isFinished: boolean;
  /** Why the user locked it: it may be on a disk that is not mounted. */
  readonly lock?: string | undefined;
  /** What is checked out: `refs/heads/…`, or undefined. */
  readonly ref?: string | undefined;
}

/** As git 2.39 writes it, with LC_ALL=C. */
const UNFINISHED = "initializing";

export async function findLinkedWorktree(repository: Repository, path: string): Promise<LinkedWorktree | undefined> {
  return (await listLinkedWorktrees(repository)).find((linked) => linked.path === path);
}

export async function listLinkedWorktrees({ commonDir }: Repository): Promise<readonly LinkedWorktree[]> {
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
 * Is the folder this repository's worktree, as git has it from both sides? In one that is not, git would find whatever lies
 * around it: the user's checkout. Mends what moving the whole repository broke.
 */
export async function isLinkedWorktree(repository: Repository, path: string): Promise<boolean> {
  const folder = join(repository.commonDir, "worktrees");
  const dir = await readGitDirPointer(path);
  const linked = dir === undefined || dirname(dir) !== folder ? undefined : await readLinked(dir);
  if (linked?.path === path && linked.pointsBack) return true;
  // Git would give it the place of another worktree, or of one in the repository that this one was copied from.
  if (dir !== undefined && (linked === undefined || linked.pointsBack)) return false;
  await repository.gitTry(["worktree", "repair", path]);
  return (await listLinkedWorktrees(repository)).some((repaired) => repaired.path === path && repaired.pointsBack);
}

/** Where the `.git` file of a linked worktree points; undefined where there is no such file, or it points nowhere. */
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
