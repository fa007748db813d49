/** Runs git in a separate process group with bounded output, under the policy of `untrusted.ts`. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { childEnvironment } from "../domain/child-environment.ts";
import { RookeryError } from "../domain/index.ts";
import { abortableSleep, startGroup, type EnvironmentVariables, type ProcessGroup } from "../stdx/index.ts";
import { toGitError, findLockFile, toStartError, subcommandName } from "./failure.ts";
import type { GitResult } from "./git-result.ts";
import { policyArguments, policyEnvironment, type GitPolicy } from "./untrusted.ts";

export interface GitOptions {
  readonly env: EnvironmentVariables;
  /** Set in the environment of every child process, to find those that a dead owner left behind. */
  readonly marker: string;
  readonly signal?: AbortSignal | undefined;
  /** How long to retry while another git process holds a lock, in milliseconds. Default: 5 s. */
  readonly lockMs?: number | undefined;
  /** Time limit for one command, in milliseconds. Default: 10 minutes. */
  readonly deadlineMs?: number | undefined;
}

export interface GitRunOptions extends GitPolicy {
  /** Standard input. Default: empty. */
  readonly input?: string | Buffer | undefined;
  /** Stops git after this many bytes of output and sets `truncated`. Without it, too much output is an error. */
  readonly truncateAt?: number | undefined;
  /** Index file to use in place of the real one, which belongs to the agent or the user. */
  readonly index?: string | undefined;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
const LOCK_MS = 5_000;
/** A checkout of a large repository takes minutes. Git never finishes if `.gitignore` is a FIFO. */
const DEADLINE_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/** Makes git print names unquoted. All other settings are in `untrusted.ts`. */
const SETTINGS = ["-c", "core.quotePath=false"];

/** Leaves LFS pointers as they are. Without these settings git fails if git-lfs is configured but not installed. */
export const DISABLE_LFS: readonly string[] = ["process=", "smudge=", "clean=", "required=false"].flatMap((setting) => [
  "-c",
  `filter.lfs.${setting}`,
]);

/**
 * Returns git's output without the final newline. Rejects with the error of `toGitError`, or with the signal's reason.
 */
export async function git(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  run: GitRunOptions = {},
): Promise<string> {
  const result = await gitTry(cwd, args, options, run);
  if (result.code !== 0 && !result.truncated) throw await toGitError(cwd, args, result);
  return result.stdout.replace(/\n$/, "");
}

/**
 * Returns the result of git even if it fails. Retries while another process holds a lock. Rejects only if git cannot be
 * started, prints too much, exceeds the deadline or is aborted.
 */
export async function gitTry(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  run: GitRunOptions = {},
): Promise<GitResult> {
  const until = performance.now() + (options.lockMs ?? LOCK_MS);
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, MAX_PAUSE_MS)) {
    const result = await runOnce(cwd, args, options, run);
    if (result.code === 0 || findLockFile(result.stderr) === undefined || performance.now() + ms > until) return result;
    await abortableSleep(ms, options.signal);
  }
}

async function runOnce(
  cwd: string,
  args: readonly string[],
  { env, marker, signal, deadlineMs = DEADLINE_MS }: GitOptions,
  { input, truncateAt, index, ...policy }: GitRunOptions,
): Promise<GitResult> {
  signal?.throwIfAborted();
  const stdin = input === undefined ? "ignore" : "pipe";
  await using group = await startGroup("git", [...policyArguments(policy), ...SETTINGS, ...args], {
    cwd,
    env: {
      ...gitEnvironment(cwd, env),
      ...policyEnvironment(policy),
      ...(index !== undefined && { GIT_INDEX_FILE: index }),
    },
    marker,
    stdin,
    tagged: false,
  }).catch(async (error: unknown) => {
    throw toStartError(error, cwd, await isFolder(cwd));
  });
  const stop = (): void => void group.stop();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    stop();
  }, deadlineMs);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    writeInput(group, input);
    const limit = truncateAt ?? MAX_OUTPUT_BYTES;
    const stdout = captureStream(group.child.stdout, limit, stop);
    const stderr = captureStream(group.child.stderr, MAX_STDERR_BYTES);
    const { exitCode } = await group.exited;
    signal?.throwIfAborted();
    if (isLate) throw deadlineExceeded(cwd, args, deadlineMs);
    if (stdout.over() && truncateAt === undefined) throw outputLimitExceeded(args);
    const bytes = stdout.bytes();
    const errorText = stderr.bytes().toString("utf8");
    return { code: exitCode, stdout: bytes.toString("utf8"), bytes, stderr: errorText, truncated: stdout.over() };
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", stop);
  }
}

function writeInput({ child }: ProcessGroup, input: string | Buffer | undefined): void {
  child.stdin?.on("error", () => undefined); // git exited without reading all input; its exit code says why
  child.stdin?.end(input);
}

/** Keeps the first `limit` bytes. Calls `onOver` once if there are more. */
function captureStream(stream: NodeJS.ReadableStream | null, limit: number, onOver?: () => void) {
  const chunks: Buffer[] = [];
  let length = 0;
  stream?.on("error", () => undefined); // destroyed on purpose when the group is stopped
  stream?.on("data", (bytes: Buffer) => {
    if (length < limit) chunks.push(bytes.subarray(0, limit - length));
    if (length <= limit && length + bytes.length > limit) onOver?.();
    length += bytes.length;
  });
  return { over: () => length > limit, bytes: () => Buffer.concat(chunks) };
}

/** Variables that make git use a repository other than that of the working directory, or change its output. */
const REPOSITORY_VARIABLES = new Set([
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_NAMESPACE",
  "GIT_PREFIX",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_QUARANTINE_PATH",
  "GIT_SHALLOW_FILE",
  "GIT_GRAFT_FILE",
  "GIT_REPLACE_REF_BASE",
  "GIT_CONFIG",
  "GIT_EXTERNAL_DIFF",
  "GIT_DIFF_OPTS",
  "GIT_LITERAL_PATHSPECS",
  "GIT_GLOB_PATHSPECS",
  "GIT_NOGLOB_PATHSPECS",
  "GIT_ICASE_PATHSPECS",
]);

/**
 * Copies the environment for git and for commands in a worktree, without variables that point to another repository.
 */
export function removeRepositoryVariables(env: EnvironmentVariables): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.has(name) && !name.startsWith("GIT_TRACE")),
  );
}

/**
 * Environment of git: English messages, because they are parsed; no prompts; no optional locks; and no search for a
 * repository above the working directory.
 */
function gitEnvironment(cwd: string, env: EnvironmentVariables): EnvironmentVariables {
  return {
    ...removeRepositoryVariables(childEnvironment(env)),
    GIT_CEILING_DIRECTORIES: dirname(cwd),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_MERGE_AUTOEDIT: "no",
    GIT_ASKPASS: "false",
    SSH_ASKPASS: "false",
  };
}

function outputLimitExceeded(args: readonly string[]): RookeryError {
  const megabytes = MAX_OUTPUT_BYTES / (1024 * 1024);
  return new RookeryError(
    "git_failed",
    `git ${subcommandName(args)} printed more than ${megabytes} MB, which is the limit`,
  );
}

function deadlineExceeded(cwd: string, args: readonly string[], ms: number): RookeryError {
  return new RookeryError(
    "git_failed",
    `git ${subcommandName(args)} did not finish in ${cwd} within ${Math.ceil(ms / 1000)} seconds and was stopped; a file that ` +
      `blocks its readers, such as a FIFO named .gitignore or .gitattributes, may be the cause: find . -type p`,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
