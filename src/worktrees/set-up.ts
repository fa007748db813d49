/** Prepares a new worktree: copies untracked files from the main checkout and runs the user's setup command. */
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { RookeryError, messageOf } from "../domain/index.ts";
import { PathRefusal, confined, type EnvironmentVariables } from "../stdx/index.ts";
import { toSystemError } from "./failure.ts";
import { joinByteName, type ByteName } from "./byte-names.ts";
import { setUpMarkerFile, type Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";
import { runCommand, type ShellCommandResult } from "./run-command.ts";
import { MAX_SET_UP_BYTES, MAX_SET_UP_FILES, listForeignFiles, recordSetUpFiles } from "./set-up-files.ts";

export interface SetUpOptions {
  /** Files and folders to copy, relative to the root of the main checkout. */
  readonly copy: readonly string[];
  /** Shell command. Default: none. */
  readonly command?: string | undefined;
  readonly timeoutMs: number;
  /** Includes the task's variables. */
  readonly env: EnvironmentVariables;
  readonly marker: string;
  /** Called with the command's output and with notices about skipped copies. */
  onOutput(text: string): void;
  readonly signal?: AbortSignal | undefined;
}

const LAST_LINES = 20;
const MAX_FILES = 10_000;

/**
 * Safe to repeat after a failure or a kill. Records the files that it leaves uncommitted, even if it fails, but not if
 * it is aborted: another process may use the worktree by then. Rejects with `setup_failed` or `disk_full`, or with the
 * signal's reason.
 */
export async function setUpWorktree(worktree: Worktree, repository: Repository, options: SetUpOptions): Promise<void> {
  const foreign = await listForeignFiles(worktree, repository, options);
  const record = () => tryRecordFiles(worktree, repository, { ...options, foreign });
  try {
    await runSetUp(worktree, repository, options);
  } catch (error) {
    if (options.signal?.aborted !== true) await record();
    throw error;
  }
  await record();
  await writeFile(setUpMarkerFile(repository, worktree.id), "");
}

async function runSetUp(worktree: Worktree, repository: Repository, options: SetUpOptions): Promise<void> {
  for (const path of options.copy) {
    options.signal?.throwIfAborted();
    await copyIntoWorktree(repository.root, worktree.path, path, options);
  }
  if (options.command !== undefined) await runSetUpCommand(worktree, options.command, options);
}

/** If the files cannot be recorded, they count as work of the task. The output of the setup then says so. */
async function tryRecordFiles(
  worktree: Worktree,
  repository: Repository,
  options: SetUpOptions & { readonly foreign: ReadonlySet<ByteName> },
): Promise<void> {
  const fix = "so they will be committed with the work of the task; add them to .gitignore";
  try {
    await mkdir(dirname(setUpMarkerFile(repository, worktree.id)), { recursive: true });
    if (await recordSetUpFiles(worktree, repository, options)) return;
    const limit = `more than ${MAX_SET_UP_FILES.toLocaleString("en")} files or ${MAX_SET_UP_BYTES / (1024 * 1024)} MB`;
    options.onOutput(`the setup left ${limit} of files that git does not ignore, ${fix}\n`);
  } catch (error) {
    options.signal?.throwIfAborted();
    options.onOutput(`the files that the setup left could not be listed (${messageOf(error)}), ${fix}\n`);
  }
}

async function runSetUpCommand(worktree: Worktree, command: string, options: SetUpOptions): Promise<void> {
  const end = await runCommand({ ...options, onOutput: (text) => options.onOutput(text), command, cwd: worktree.path });
  if (end.exitCode === 0 && !end.timedOut) return;
  const lastLines = end.tail.trimEnd().split("\n").slice(-LAST_LINES).join("\n");
  throw new RookeryError(
    "setup_failed",
    `the setup command \`${command}\` ${describeExit(end, options.timeoutMs)}${lastLines === "" ? "" : `:\n${lastLines}`}`,
  );
}

function describeExit({ exitCode, signal, timedOut }: ShellCommandResult, timeoutMs: number): string {
  if (timedOut) return `did not finish within ${timeoutMs / 1000} seconds`;
  return exitCode === null ? `was killed by ${signal ?? "a signal"}` : `failed with exit code ${exitCode}`;
}

/** Replaces existing files in the worktree with those of the main checkout. */
async function copyIntoWorktree(root: string, worktree: string, path: string, options: SetUpOptions): Promise<void> {
  try {
    if (isAbsolute(path)) throw new PathRefusal(`${path} must be relative to ${root}`);
    const from = await confined([root], path);
    const to = await confined([worktree], path);
    if (to === worktree) throw new PathRefusal(`${path} is the whole checkout`);
    if (worktree.startsWith(`${from}/`)) throw new PathRefusal(`${path} contains the worktree`);
    if (!(await copyTree(Buffer.from(from), Buffer.from(to), { files: 0 })))
      options.onOutput(`${path} does not exist in ${root}, so it was not copied\n`);
  } catch (error) {
    const cause = toSystemError(error, worktree);
    if (cause instanceof RookeryError) throw cause;
    throw new RookeryError("setup_failed", `${path} could not be copied: ${messageOf(error)}`, { cause });
  }
}

/** Skips symbolic links inside a folder, because they could lead anywhere. Names need not be UTF-8. */
async function copyTree(from: Buffer, to: Buffer, counted: { files: number }): Promise<boolean> {
  const found = await lstat(from).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory()) {
    await mkdir(to, { recursive: true });
    for (const name of await readdir(from, { encoding: "latin1" })) {
      await copyTree(joinByteName(from, name), joinByteName(to, name), counted);
    }
  } else if (found.isFile()) {
    if ((counted.files += 1) > MAX_FILES) throw new PathRefusal(`it contains more than ${MAX_FILES} files`);
    await mkdir(to.subarray(0, to.lastIndexOf("/")), { recursive: true });
    await rm(to, { force: true }); // do not write through a link that the branch contains
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
  return true;
}
