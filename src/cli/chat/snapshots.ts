/** Snapshots of the files of a repository before a turn, so that `/undo` can restore what the turn changed. */
import { copyFile, mkdtemp, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { RookeryError } from "../../domain/errors.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { git, gitTry, type GitOptions } from "../../worktrees/git.ts";

export interface FileSnapshot {
  readonly root: string;
  /** The id of a tree in the repository's objects. */
  readonly tree: string;
}

export interface FileChange {
  readonly path: string;
  readonly status: "added" | "changed" | "deleted";
}

/** In a repository in which git takes longer, turns have no snapshot. */
const GIT_DEADLINE_MS = 5_000;

/** Returns undefined outside of a repository, or if the repository is too large. Ignored files are not in it. */
export async function takeSnapshot(cwd: string, env: EnvironmentVariables): Promise<FileSnapshot | undefined> {
  const options = chatGitOptions(env);
  try {
    const root = await git(cwd, ["rev-parse", "--show-toplevel"], options);
    return { root, tree: await writeTree(root, options) };
  } catch {
    return undefined;
  }
}

/** Lists what has changed since the snapshot, by the agent or by anyone else. */
export async function changesSince(snapshot: FileSnapshot, env: EnvironmentVariables): Promise<readonly FileChange[]> {
  const options = chatGitOptions(env);
  const now = await writeTree(snapshot.root, options);
  const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", snapshot.tree, now];
  const fields = (await git(snapshot.root, args, options)).split("\0");
  const changes: FileChange[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const status = STATUSES[fields[index] ?? ""] ?? "changed";
    changes.push({ path: fields[index + 1] ?? "", status });
  }
  return changes;
}

/** Restores the files. The index of the repository and its commits stay as they are. */
export async function restoreSnapshot(
  { root, tree }: FileSnapshot,
  changes: readonly FileChange[],
  env: EnvironmentVariables,
): Promise<void> {
  const kept = changes.filter(({ status }) => status !== "added").map(({ path }) => path);
  if (kept.length > 0) {
    const args = ["restore", `--source=${tree}`, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"];
    const input = kept.map((path) => `:(top,literal)${path}\0`).join("");
    const { code, stderr } = await gitTry(root, args, chatGitOptions(env), { input });
    if (code !== 0) throw new RookeryError("git_failed", `git could not restore the files: ${stderr.trim()}`);
  }
  for (const { path, status } of changes) {
    if (status === "added") await unlink(resolve(root, path)).catch(ignoreMissing);
  }
}

const STATUSES: Readonly<Record<string, FileChange["status"]>> = { A: "added", D: "deleted" };

/** Uses a copy of the index, so that only changed files are read and the real index stays unchanged. */
async function writeTree(root: string, options: GitOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rookery-snapshot-"));
  try {
    const index = join(folder, "index");
    const real = resolve(root, await git(root, ["rev-parse", "--git-path", "index"], options));
    await copyFile(real, index).catch(ignoreMissing);
    await git(root, ["add", "--all", "--", ":/"], options, { index });
    return await git(root, ["write-tree"], options, { index });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function chatGitOptions(env: EnvironmentVariables): GitOptions {
  return { env, marker: `rookery-chat-${process.pid}`, deadlineMs: GIT_DEADLINE_MS };
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
