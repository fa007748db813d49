/** What is remembered of a task's worktree: written before git makes it, gone after all else of it is. */
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RookeryError, TaskId } from "../domain/index.ts";
import type { Repository } from "./repository.ts";

export interface Worktree {
  /** The task's. */
  readonly id: string;
  readonly path: string;
  readonly branch: string;
  /** The branch or what else it was made from, and the commit that it was then. */
  readonly base: string;
  readonly baseCommit: string;
}

const StoredWorktree = z.strictObject({ branch: z.string(), base: z.string(), baseCommit: z.string() });

/** Rejects with `input_invalid` for what is no task's id, since it would be part of a path. */
export function checkWorktreeId(id: string): string {
  if (TaskId.safeParse(id).success) return id;
  const shown = JSON.stringify(id.slice(0, 100).toWellFormed());
  throw new RookeryError("input_invalid", `${shown} is no id of a task: small letters, digits, and - _ . between them`);
}

export function worktreePath(repository: Pick<Repository, "root">, id: string): string {
  return join(repository.root, ".rookery", "worktrees", checkWorktreeId(id));
}

/** What is there of ours, whether or not its folder still is. */
export async function findWorktree(repository: Repository, id: string): Promise<Worktree | undefined> {
  try {
    const kept = StoredWorktree.parse(JSON.parse(await readFile(recordFile(repository, id), "utf8")));
    return { id, path: worktreePath(repository, id), ...kept };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new RookeryError("worktree_missing", `${recordFile(repository, id)} says nothing of a worktree; remove it`, {
      cause: error,
    });
  }
}

/** Only those of tasks, not what the user has made beside them; one whose record is broken is left out. */
export async function listWorktrees(repository: Repository): Promise<readonly Worktree[]> {
  const names = await readdir(recordFolder(repository)).catch(() => []);
  const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  const known = ids.filter((id) => TaskId.safeParse(id).success).sort();
  const found = await Promise.all(known.map((id) => findWorktree(repository, id).catch(() => undefined)));
  return found.filter((worktree) => worktree !== undefined);
}

export async function saveWorktree(repository: Repository, worktree: Worktree): Promise<void> {
  const { id, branch, base, baseCommit } = worktree;
  const file = recordFile(repository, id);
  await mkdir(recordFolder(repository), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify({ branch, base, baseCommit })}\n`);
  await rename(`${file}.new`, file);
}

export async function deleteWorktreeRecord(repository: Repository, id: string): Promise<void> {
  await rm(recordFile(repository, id), { force: true });
  await rm(`${recordFile(repository, id)}.new`, { force: true });
  await rm(setUpMarkerFile(repository, id), { force: true });
}

/** Its time says when the set-up of the worktree ended: what changed in it later is the agent's. */
export function setUpMarkerFile(repository: Repository, id: string): string {
  return join(recordFolder(repository), `${checkWorktreeId(id)}.ready`);
}

/** In git's own folder: no checkout can bring a file there, and a pruned or deleted worktree does not take it along. */
function recordFolder({ commonDir }: Repository): string {
  return join(commonDir, "rookery");
}

function recordFile(repository: Repository, id: string): string {
  return join(recordFolder(repository), `${checkWorktreeId(id)}.json`);
}
