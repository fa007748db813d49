/** Makes a new worktree one to work in: files that git does not know, and a command of the user's. */
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { RookeryError, messageOf } from "../domain/index.ts";
import { PathRefusal, confined } from "../stdx/index.ts";
import { toSystemError } from "./failure.ts";
import type { Env } from "./git.ts";
import { joinByteName } from "./byte-names.ts";
import { setUpMarkerFile, type Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";
import { runCommand, type ShellCommandResult } from "./run-command.ts";

export interface SetUpOptions {
  /** Files and folders, relative to the root of the main checkout, to have in the worktree too. */
  readonly copy: readonly string[];
  /** For the shell; nothing is run if not said. */
  readonly command?: string | undefined;
  readonly timeoutMs: number;
  /** With the task's variables. */
  readonly env: Env;
  readonly marker: string;
  /** What the command prints, and what is to be known of the copies. */
  onOutput(text: string): void;
  readonly signal?: AbortSignal | undefined;
}

const LAST_LINES = 20;
const MAX_FILES = 10_000;

/** May be done again after it failed or was killed. Rejects with `setup_failed`, `disk_full`, or the signal's reason. */
export async function setUpWorktree(worktree: Worktree, repository: Repository, options: SetUpOptions): Promise<void> {
  for (const path of options.copy) {
    options.signal?.throwIfAborted();
    await copyIntoWorktree(repository.root, worktree.path, path, options);
  }
  if (options.command !== undefined) await runSetUpCommand(worktree, options.command, options);
  await mkdir(dirname(setUpMarkerFile(repository, worktree.id)), { recursive: true });
  await writeFile(setUpMarkerFile(repository, worktree.id), "");
}

async function runSetUpCommand(worktree: Worktree, command: string, options: SetUpOptions): Promise<void> {
  const end = await runCommand({ ...options, onOutput: (text) => options.onOutput(text), command, cwd: worktree.path });
  if (end.exitCode === 0 && !end.timedOut) return;
  const said = end.tail.trimEnd().split("\n").slice(-LAST_LINES).join("\n");
  throw new RookeryError(
    "setup_failed",
    `the set-up command \`${command}\` ${describeExit(end, options.timeoutMs)}${said === "" ? "" : `:\n${said}`}`,
  );
}

function describeExit({ exitCode, signal, timedOut }: ShellCommandResult, timeoutMs: number): string {
  if (timedOut) return `did not end within ${timeoutMs / 1000} seconds`;
  return exitCode === null ? `was killed by ${signal ?? "a signal"}` : `ended with exit code ${exitCode}`;
}

/** What the worktree has already is replaced: it is the main checkout's that is wanted. */
async function copyIntoWorktree(root: string, worktree: string, path: string, options: SetUpOptions): Promise<void> {
  try {
    if (isAbsolute(path)) throw new PathRefusal(`${path} is not relative to ${root}`);
    const from = await confined([root], path);
    const to = await confined([worktree], path);
    if (to === worktree) throw new PathRefusal(`${path} is the whole checkout`);
    if (worktree.startsWith(`${from}/`)) throw new PathRefusal(`${path} has the worktree in it`);
    if (!(await copyTree(Buffer.from(from), Buffer.from(to), { files: 0 })))
      options.onOutput(`${path} is not in ${root}, so it was not copied\n`);
  } catch (error) {
    const cause = toSystemError(error, worktree);
    if (cause instanceof RookeryError) throw cause;
    throw new RookeryError("setup_failed", `${path} could not be copied: ${messageOf(error)}`, { cause });
  }
}

/** A symlink within a folder is left out: it could lead anywhere. Names need not be UTF-8. */
async function copyTree(from: Buffer, to: Buffer, counted: { files: number }): Promise<boolean> {
  const found = await lstat(from).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory()) {
    await mkdir(to, { recursive: true });
    for (const name of await readdir(from, { encoding: "latin1" })) {
      await copyTree(joinByteName(from, name), joinByteName(to, name), counted);
    }
  } else if (found.isFile()) {
    if ((counted.files += 1) > MAX_FILES) throw new PathRefusal(`it has more than ${MAX_FILES} files`);
    await mkdir(to.subarray(0, to.lastIndexOf("/")), { recursive: true });
    await rm(to, { force: true }); // never through a link that the branch has there
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
  return true;
}
