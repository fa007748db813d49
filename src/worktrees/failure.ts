/** Converts git failures to `RookeryError`. The only module that parses git's error messages. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { RookeryError, messageOf } from "../domain/index.ts";
import type { GitResult } from "./git-result.ts";

/** Converts the error of a git process that could not be started. */
export function toStartError(error: unknown, cwd: string, isFolder: boolean): RookeryError {
  if (!isFolder) return new RookeryError("cwd_missing", `${cwd} is not a folder, so git cannot run there`);
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "EACCES"
    ? new RookeryError("git_missing", "git is not on the PATH; install git, then try again", { cause: error })
    : new RookeryError("git_failed", `git could not be started: ${messageOf(error)}`, { cause: error });
}

/** Converts the result of a failed git command. */
export async function toGitError(
  cwd: string,
  args: readonly string[],
  { code, stderr, stdout }: Pick<GitResult, "code" | "stderr" | "stdout">,
): Promise<RookeryError> {
  if (isDiskFull(stderr)) {
    return new RookeryError("disk_full", `the disk that holds ${cwd} is full; free some space, then try again`);
  }
  if (/not a git repository|not a git directory/i.test(stderr)) return repositoryMissing(cwd);
  const lock = findLockFile(stderr);
  if (lock !== undefined) return repositoryLocked(resolve(cwd, lock));
  const reason =
    summarizeOutput(stderr) || summarizeOutput(stdout) || (code === null ? "it was killed" : `exit code ${code}`);
  return new RookeryError("git_failed", `git ${subcommandName(args)} failed in ${cwd}: ${reason}`);
}

export function repositoryMissing(cwd: string): RookeryError {
  return new RookeryError(
    "repository_missing",
    `${cwd} is not in a git repository; change to one, or create one: git init && git commit --allow-empty -m "Initial commit"`,
  );
}

/** Returns the lock file that another git process holds, if that caused the failure. */
export function findLockFile(stderr: string): string | undefined {
  for (const line of stderr.split("\n")) {
    const made = textBetween(line, "Unable to create '", ".lock': File exists");
    if (made !== undefined) return `${made}.lock`;
    const config = textBetween(line, "could not lock config file ", ": File exists");
    if (config !== undefined) return `${config}.lock`;
  }
  return undefined;
}

/** Returns the text between the last `start` and the next `end`. Takes linear time, because messages contain untrusted names. */
function textBetween(line: string, start: string, end: string): string | undefined {
  const at = line.lastIndexOf(start);
  if (at === -1) return undefined;
  const to = line.indexOf(end, at + start.length + 1);
  return to === -1 ? undefined : line.slice(at + start.length, to);
}

/**
 * True if the message means that the disk is full. When git 2.39 cannot write a file that it could create, it prints no
 * reason; a full disk is the likely one.
 */
export function isDiskFull(text: string): boolean {
  return /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT|unable to write (?:new.index )?file/.test(text);
}

/** Returns `branch_exists` if the branch exists, conflicts with the path of another branch, or is checked out elsewhere. */
export function toBranchConflict(stderr: string, branch: string): RookeryError | undefined {
  const [, used] = /already (?:checked out|used by worktree) at '(.+)'/.exec(stderr) ?? [];
  if (used !== undefined) {
    const message = `branch ${branch} is checked out at ${used}; run this there: git switch --detach`;
    return new RookeryError("branch_exists", message);
  }
  const lines = stderr.split("\n");
  const other = lines
    .filter((line) => line.includes("cannot lock ref '"))
    .map((line) => textBetween(line, "': '", "' exists; cannot create")?.replace(/^refs\/heads\//, ""))
    .find((found) => found !== undefined);
  const exists = lines.some((line) => textBetween(line, "a branch named '", "' already exists") !== undefined);
  if (other === undefined && !exists) return undefined;
  const name = other ?? branch;
  return new RookeryError(
    "branch_exists",
    `branch ${name} already exists and does not belong to this task; rename it: git branch -m ${name} NAME, or choose another name`,
  );
}

/** True if git-lfs is missing or could not download a file. */
export function isFilterMissing(stderr: string): boolean {
  return /smudge filter '?lfs'? failed|external filter '?git-lfs/.test(stderr);
}

/** Converts permission and disk errors of the operating system. Returns other errors unchanged. */
export function toSystemError(error: unknown, path: string): unknown {
  if (error instanceof RookeryError || !(error instanceof Error)) return error;
  if (/^(?:EACCES|EPERM|EROFS)$/.test((error as NodeJS.ErrnoException).code ?? "")) {
    const message = `${path} cannot be written (${error.message}); give yourself write access to it`;
    return new RookeryError("git_failed", message, { cause: error });
  }
  if (!isDiskFull(error.message)) return error;
  return new RookeryError("disk_full", `the disk that holds ${path} is full; free some space, then try again`, {
    cause: error,
  });
}

async function repositoryLocked(file: string): Promise<RookeryError> {
  const age = await stat(file).then(
    ({ mtimeMs }) => `is ${Math.max(0, Math.round((Date.now() - mtimeMs) / 1000))} seconds old`,
    () => "was there a moment ago",
  );
  return new RookeryError(
    "repository_locked",
    `another git process has locked this repository: ${file} ${age}; wait for it to finish, or delete the file if no git is running`,
  );
}

const MAX_SUMMARY_LENGTH = 1_000;

/** Returns the error lines of git's output, or its last lines if there are none. Drops hints. */
function summarizeOutput(text: string): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  const from = lines.findIndex((line) => /^(fatal|error):/.test(line));
  const kept = from === -1 ? lines.slice(-3) : lines.slice(from);
  return kept.join("; ").slice(0, MAX_SUMMARY_LENGTH).toWellFormed();
}

/** Returns the subcommand for a message, such as `worktree add`, without paths and settings. */
export function subcommandName(args: readonly string[]): string {
  const words: string[] = [];
  for (let at = 0; at < args.length && words.length < 2; at += 1) {
    const word = args[at] ?? "";
    if (word === "-c" || word === "-C") at += 1;
    else if (/^[a-z][a-z-]*$/.test(word)) words.push(word);
    else if (words.length > 0) break;
  }
  return words.join(" ");
}
