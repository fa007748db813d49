/** What git's failures mean to a caller: the only place that reads its words. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { RookeryError, messageOf } from "../domain/index.ts";
import type { GitResult } from "./git.ts";

/** git itself could not be started. */
export function toStartError(error: unknown, cwd: string, isFolder: boolean): RookeryError {
  if (!isFolder) return new RookeryError("cwd_missing", `${cwd} is no folder, so git cannot run in it`);
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "EACCES"
    ? new RookeryError("git_missing", "there is no git on the PATH; install git, then try again", { cause: error })
    : new RookeryError("git_failed", `git could not be started: ${messageOf(error)}`, { cause: error });
}

export async function toGitError(
  cwd: string,
  args: readonly string[],
  { code, stderr, stdout }: Pick<GitResult, "code" | "stderr" | "stdout">,
): Promise<RookeryError> {
  if (isDiskFull(stderr)) {
    return new RookeryError("disk_full", `the disk of ${cwd} is full; make room on it, then try again`);
  }
  if (/not a git repository|not a git directory/i.test(stderr)) return repositoryMissing(cwd);
  const lock = findLockFile(stderr);
  if (lock !== undefined) return repositoryLocked(resolve(cwd, lock));
  const said = summarizeOutput(stderr) || summarizeOutput(stdout) || (code === null ? "it was killed" : `exit code ${code}`);
  return new RookeryError("git_failed", `git ${subcommandName(args)} failed in ${cwd}: ${said}`);
}

export function repositoryMissing(cwd: string): RookeryError {
  return new RookeryError(
    "repository_missing",
    `${cwd} is in no git repository; go to one, or make one with: git init && git commit --allow-empty -m "Begin"`,
  );
}

/** The file that another git holds, if that is what it failed at. */
export function findLockFile(stderr: string): string | undefined {
  for (const line of stderr.split("\n")) {
    const made = textBetween(line, "Unable to create '", ".lock': File exists");
    if (made !== undefined) return `${made}.lock`;
    const config = textBetween(line, "could not lock config file ", ": File exists");
    if (config !== undefined) return `${config}.lock`;
  }
  return undefined;
}

/** What stands between the last `start` of a line and the next `end`. Linear: names in what git says are foreign. */
function textBetween(line: string, start: string, end: string): string | undefined {
  const at = line.lastIndexOf(start);
  if (at === -1) return undefined;
  const to = line.indexOf(end, at + start.length + 1);
  return to === -1 ? undefined : line.slice(at + start.length, to);
}

/**
 * A checkout that cannot write a file which it could create does not say why (seen in git 2.39.5), and has removed what it
 * wrote by then: there is hardly another reason.
 */
export function isDiskFull(text: string): boolean {
  return /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT|unable to write (?:new.index )?file/.test(text);
}

/** The branch is there already, stands where a folder of branches would, or is checked out somewhere. */
export function toBranchConflict(stderr: string, branch: string): RookeryError | undefined {
  const [, used] = /already (?:checked out|used by worktree) at '(.+)'/.exec(stderr) ?? [];
  if (used !== undefined) {
    const message = `the branch ${branch} is checked out at ${used}; leave it there: git switch --detach`;
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
    `there is a branch ${name} already, which is not this task's; rename it: git branch -m ${name} NAME, or choose another`,
  );
}

/** Large files that are not here and could not be fetched, or nothing that knows them. */
export function isFilterMissing(stderr: string): boolean {
  return /smudge filter '?lfs'? failed|external filter '?git-lfs/.test(stderr);
}

/** What the system refused rather than git. */
export function toSystemError(error: unknown, path: string): unknown {
  if (error instanceof RookeryError || !(error instanceof Error)) return error;
  if (/^(?:EACCES|EPERM|EROFS)$/.test((error as NodeJS.ErrnoException).code ?? "")) {
    const message = `${path} cannot be written: give yourself write access to it (${error.message})`;
    return new RookeryError("git_failed", message, { cause: error });
  }
  if (!isDiskFull(error.message)) return error;
  return new RookeryError("disk_full", `the disk of ${path} is full; make room on it, then try again`, {
    cause: error,
  });
}

async function repositoryLocked(file: string): Promise<RookeryError> {
  const age = await stat(file).then(
    ({ mtimeMs }) => `is ${Math.max(0, Math.round((Date.now() - mtimeMs) / 1000))} seconds old`,
    () => "was there until just now",
  );
  return new RookeryError(
    "repository_locked",
    `another git works on this repository: ${file} ${age}; wait for it to end, or remove that file if none runs`,
  );
}

const MAX_SUMMARY_LENGTH = 1_000;

/** What git says it fails at comes last, after hints and progress. */
function summarizeOutput(text: string): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  const from = lines.findIndex((line) => /^(fatal|error):/.test(line));
  const said = from === -1 ? lines.slice(-3) : lines.slice(from);
  return said.join("; ").slice(0, MAX_SUMMARY_LENGTH).toWellFormed();
}

/** `worktree add`, not all that was said to it: paths and settings make it unreadable. */
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
