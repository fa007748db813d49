/** Reads the status and commits of a worktree compared to its base. Changes nothing. */
import { existsSync } from "node:fs";
import { RookeryError, type TaskCommit } from "../domain/index.ts";
import { listChangedGitlinks } from "./gitlinks.ts";
import { isLinkedWorktree } from "./linked-worktrees.ts";
import { displayName, readNames, type ByteName } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository, RepositoryRunOptions } from "./repository.ts";
import { listUnchangedSetUpFiles } from "./set-up-files.ts";
import { STATUS_FLAGS, parseStatusEntry } from "./status-entry.ts";

export interface WorktreeStatus {
  readonly headCommit: string;
  /** The branch that is checked out. Undefined for a detached HEAD. */
  readonly branch?: string | undefined;
  /** True if there are uncommitted changes. Files that are as the setup left them do not count, here and in `files`. */
  readonly uncommitted: boolean;
  /** Uncommitted files relative to the root, at most 1,000. */
  readonly files: readonly string[];
  /** Number of commits that are in its branch but not in its base commit. */
  readonly commits: number;
  /** Number of commits that are in the current base but not in its branch. 0 if the base is gone. */
  readonly behind: number;
}

const MAX_FILES = 1_000;
const MAX_COMMITS = 1_000;

/** Rejects with `worktree_missing` if the worktree does not exist. */
export async function readWorktreeStatus(
  worktree: Worktree,
  repository: Repository,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<WorktreeStatus> {
  await assertWorktreeExists(worktree, repository);
  const at = { cwd: worktree.path, signal };
  const [lines, nested, ahead, counts, setUp] = await Promise.all([
    readNames(repository, ["status", "--porcelain=v2", "--branch", ...STATUS_FLAGS], at),
    listChangedGitlinks(repository, at),
    repository.git(["rev-list", "--count", `${worktree.baseCommit}..HEAD`, "--"], at),
    repository.gitTry(["rev-list", "--count", "--left-right", `${worktree.base}...HEAD`, "--"], at),
    listUnchangedSetUpFiles(worktree, repository, { signal }),
  ]);
  const header = (name: string): string =>
    /^# \S+ (.*)$/.exec(lines.find((line) => line.startsWith(`# ${name} `)) ?? "")?.[1] ?? "";
  const listed = lines.filter((line) => !line.startsWith("# ")).map((line) => parseStatusEntry(line).path);
  const files = [...new Set([...listed.filter((path) => !setUp.listed.has(path)), ...nested])];
  const branch = displayName(header("branch.head"));
  return {
    headCommit: header("branch.oid"),
    branch: branch === "(detached)" ? undefined : branch,
    uncommitted: files.length > 0,
    files: files.slice(0, MAX_FILES).map(displayName),
    commits: Number(ahead),
    behind: counts.code === 0 ? Number.parseInt(counts.stdout, 10) : 0,
  };
}

/** How long counting may take: it only informs the user. */
const COUNT_TIMEOUT_MS = 3_000;

/** Counts changed and untracked files of the main checkout. 0 if git fails or takes longer than 3 s. */
export async function countUncommittedFiles(repository: Repository): Promise<number> {
  const at = { cwd: repository.root, signal: AbortSignal.timeout(COUNT_TIMEOUT_MS) };
  try {
    return (await readNames(repository, ["status", "--porcelain=v1", ...STATUS_FLAGS], at)).length;
  } catch {
    return 0;
  }
}

/** Lists the commits that are in its branch but not in its base commit, newest first, at most 1,000. */
export async function listWorktreeCommits(
  worktree: Worktree,
  repository: Repository,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly TaskCommit[]> {
  await assertWorktreeExists(worktree, repository);
  return listCommits(repository, `${worktree.baseCommit}..HEAD`, { cwd: worktree.path, signal });
}

/** Lists the commits of a range, the newest first. */
export async function listCommits(
  repository: Repository,
  range: string,
  at: RepositoryRunOptions,
): Promise<readonly TaskCommit[]> {
  const format = "--format=%H%x00%s%x00%an%x00%cI";
  const args = ["log", "-z", "--no-show-signature", `--max-count=${MAX_COMMITS}`, format, range, "--"];
  const fields = (await repository.git(args, at)).split("\0");
  const commits: TaskCommit[] = [];
  for (let index = 0; index + 3 < fields.length; index += 4) {
    const [commit = "", subject = "", author = "", when = ""] = fields.slice(index, index + 4);
    commits.push({ commit: commit.trim(), subject, author, at: when });
  }
  return commits;
}

/** True if the branch `into` contains every commit of the worktree's branch. */
export async function isBranchMerged(worktree: Worktree, repository: Repository, into: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", `refs/heads/${worktree.branch}`, `refs/heads/${into}`];
  return (await repository.gitTry(args)).code === 0;
}

/** Returns untracked repositories, with a trailing slash, from the lines of `status --porcelain=v1 --untracked-files=all`. */
export function parseEmbeddedRepositories(lines: readonly ByteName[]): readonly ByteName[] {
  return lines.filter((line) => line.startsWith("?? ") && line.endsWith("/")).map((line) => line.slice(3));
}

/** Returns files with merge conflicts from the lines of `status --porcelain=v1`. */
export function parseUnmergedFiles(lines: readonly ByteName[]): readonly ByteName[] {
  return lines.filter((line) => /^(?:DD|AU|UD|UA|DU|AA|UU) /.test(line)).map((line) => line.slice(3));
}

/** Rejects with `worktree_missing` if git does not know the folder as a worktree of this repository. */
export async function assertWorktreeExists({ id, path }: Worktree, repository: Repository): Promise<void> {
  if (await isLinkedWorktree(repository, path)) return;
  const why = existsSync(path)
    ? `git no longer knows ${path}, the worktree of task ${id}; copy what you need, move it away, then resume the task`
    : `the worktree of task ${id} is no longer at ${path}; resume the task to create it again`;
  throw new RookeryError("worktree_missing", why);
}
