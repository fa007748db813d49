/** Records of task worktrees. A record is written before git creates the worktree and deleted after everything else. */
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { RookeryError, TaskId } from "../domain/index.ts";
import type { Repository } from "./repository.ts";

export interface Worktree {
  /** Id of the task. */
  readonly id: string;
  readonly path: string;
  readonly branch: string;
  /** The branch, tag or commit it was created from, and that commit's id at the time. */
  readonly base: string;
  readonly baseCommit: string;
}

const StoredWorktree = z.strictObject({ branch: z.string(), base: z.string(), baseCommit: z.string() });

/** Throws `input_invalid` if the id is not a task id. An id becomes part of a path, so it must be checked first. */
export function checkWorktreeId(id: string): string {
  if (TaskId.safeParse(id).success) return id;
  const quotedId = JSON.stringify(id.slice(0, 100).toWellFormed());
  throw new RookeryError(
    "input_invalid",
    `${quotedId} is not a task id; use lowercase letters and digits, with - _ . between them`,
  );
}

export function worktreePath(repository: Pick<Repository, "root">, id: string): string {
  return join(repository.root, ".rookery", "worktrees", checkWorktreeId(id));
}

/** Reads the record of a worktree, even if its folder is gone. Rejects with `worktree_missing` if the record is invalid. */
export async function findWorktree(repository: Repository, id: string): Promise<Worktree | undefined> {
  try {
    const kept = StoredWorktree.parse(JSON.parse(await readFile(recordFile(repository, id), "utf8")));
    return { id, path: worktreePath(repository, id), ...kept };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new RookeryError(
      "worktree_missing",
      `${recordFile(repository, id)} is not a valid worktree record; delete it`,
      {
        cause: error,
      },
    );
  }
}

/** Lists the worktrees of tasks, without worktrees that the user created. Skips invalid records. */
export async function listWorktrees(repository: Repository): Promise<readonly Worktree[]> {
  const names = await readdir(recordFolder(repository)).catch(() => []);
  const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  const known = ids.filter((id) => TaskId.safeParse(id).success).sort();
  const found = await Promise.all(known.map((id) => findWorktree(repository, id).catch(() => undefined)));
  return found.filter((worktree) => worktree !== undefined);
}

/** Writes the record atomically. */
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
  await deleteSetUpRecord(repository, id);
}

/** Call it if the worktree is created again: the files of the last setup are gone. */
export async function deleteSetUpRecord(repository: Repository, id: string): Promise<void> {
  await rm(setUpFilesFile(repository, id), { force: true });
  await rm(`${setUpFilesFile(repository, id)}.new`, { force: true });
}

/** Lists the uncommitted files that the setup left. See `set-up-files.ts`. */
export function setUpFilesFile(repository: Repository, id: string): string {
  return join(recordFolder(repository), `${checkWorktreeId(id)}.setup`);
}

/** The modification time of this file is the end of the setup: files that changed later are the agent's work. */
export function setUpMarkerFile(repository: Repository, id: string): string {
  return join(recordFolder(repository), `${checkWorktreeId(id)}.ready`);
}

/** Inside the git folder: a checkout cannot write there, and records survive a pruned or deleted worktree. */
function recordFolder({ commonDir }: Repository): string {
  return join(commonDir, "rookery");
}

function recordFile(repository: Repository, id: string): string {
  return join(recordFolder(repository), `${checkWorktreeId(id)}.json`);
}
