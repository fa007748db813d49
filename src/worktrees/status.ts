/** What a worktree has that its base has not: looked at without changing anything in it. */
import { existsSync } from "node:fs";
import { RookeryError, type TaskCommit } from "../domain/index.ts";
import { listChangedGitlinks } from "./gitlinks.ts";
import { isLinkedWorktree } from "./linked-worktrees.ts";
import { displayName, readNames, type ByteName } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

export interface WorktreeStatus {
  readonly headCommit: string;
  /** What is checked out there now; undefined for a detached HEAD. */
  readonly branch?: string | undefined;
  /** Is there anything that is not committed? */
  readonly uncommitted: boolean;
  /** That is not committed, relative to the root: the first thousand. */
  readonly files: readonly string[];
  /** In its branch, and not in what it was made from. */
  readonly commits: number;
  /** In the base as it is now, and not in its branch; 0 where the base is gone. */
  readonly behind: number;
}

/**
 * For `git status`, whatever the user, or `.gitmodules`, would rather not see. Git runs nothing in the repositories
 * within: what changed in those, `changedGitlinks` says.
 */
export const STATUS_FLAGS = ["-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"] as const;

const MAX_FILES = 1_000;
const MAX_COMMITS = 1_000;

/** Rejects with `worktree_missing`. */
export async function readWorktreeStatus(
  worktree: Worktree,
  repository: Repository,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<WorktreeStatus> {
  await assertWorktreeExists(worktree, repository);
  const at = { cwd: worktree.path, signal };
  const [lines, nested, ahead, counts] = await Promise.all([
    readNames(repository, ["status", "--porcelain=v2", "--branch", ...STATUS_FLAGS], at),
    listChangedGitlinks(repository, at),
    repository.git(["rev-list", "--count", `${worktree.baseCommit}..HEAD`, "--"], at),
    repository.gitTry(["rev-list", "--count", "--left-right", `${worktree.base}...HEAD`, "--"], at),
  ]);
  const header = (name: string): string =>
    /^# \S+ (.*)$/.exec(lines.find((line) => line.startsWith(`# ${name} `)) ?? "")?.[1] ?? "";
  const listed = lines.filter((line) => !line.startsWith("# ")).map(parseStatusPath);
  const files = [...new Set([...listed, ...nested])];
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

/** Of `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path` and `? path`. */
function parseStatusPath(line: string): ByteName {
  const fields = line.startsWith("1 ") ? 8 : line.startsWith("u ") ? 10 : 1;
  return line.split(" ").slice(fields).join(" ");
}

/** The newest first: those of its branch that were not in what it was made from; at most a thousand. */
export async function listWorktreeCommits(
  worktree: Worktree,
  repository: Repository,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly TaskCommit[]> {
  await assertWorktreeExists(worktree, repository);
  const format = "--format=%H%x00%s%x00%an%x00%cI";
  const args = [
    "log",
    "-z",
    "--no-show-signature",
    `--max-count=${MAX_COMMITS}`,
    format,
    `${worktree.baseCommit}..HEAD`,
    "--",
  ];
  const fields = (await repository.git(args, { cwd: worktree.path, signal })).split("\0");
  const commits: TaskCommit[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [commit = "", subject = "", author = "", when = ""] = fields.slice(at, at + 4);
    commits.push({ commit: commit.trim(), subject, author, at: when });
  }
  return commits;
}

/** Has the other branch every commit of it? */
export async function isBranchMerged(worktree: Worktree, repository: Repository, into: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", `refs/heads/${worktree.branch}`, `refs/heads/${into}`];
  return (await repository.gitTry(args)).code === 0;
}

/** Of the lines of `status --porcelain=v1 --untracked-files=all`: repositories that were made there, with a slash at the end. */
export function parseEmbeddedRepositories(lines: readonly ByteName[]): readonly ByteName[] {
  return lines.filter((line) => line.startsWith("?? ") && line.endsWith("/")).map((line) => line.slice(3));
}

/** Of the lines of `status --porcelain=v1`: files that a merge left for someone to decide. */
export function parseUnmergedFiles(lines: readonly ByteName[]): readonly ByteName[] {
  return lines.filter((line) => /^(?:DD|AU|UD|UA|DU|AA|UU) /.test(line)).map((line) => line.slice(3));
}

/** Git is asked in a worktree only where that is what it finds. */
export async function assertWorktreeExists({ id, path }: Worktree, repository: Repository): Promise<void> {
  if (await isLinkedWorktree(repository, path)) return;
  const why = existsSync(path)
    ? `git does not know ${path}, the worktree of ${id}, any more; keep what you need of it, move it away, and resume it`
    : `the worktree of ${id} is not at ${path} any more; resume it to have it again`;
  throw new RookeryError("worktree_missing", why);
}
