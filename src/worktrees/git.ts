/** Runs git: in a process group of its own, with bounded output, by the policy of `untrusted.ts`. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { childEnvironment } from "../domain/child-environment.ts";
import { RookeryError } from "../domain/index.ts";
import { abortableSleep, startGroup, type ProcessGroup } from "../stdx/index.ts";
import { toGitError, findLockFile, toStartError, subcommandName } from "./failure.ts";
import { policyArguments, policyEnvironment, type GitPolicy } from "./untrusted.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface GitOptions {
  readonly env: Env;
  /** Put in the environment of every child, so that what its owner leaves behind is found. */
  readonly marker: string;
  readonly signal?: AbortSignal | undefined;
  /** How long someone else's lock is waited for; 5 seconds if not said. */
  readonly lockMs?: number | undefined;
  /** How long one command may take. Default: 10 minutes. */
  readonly deadlineMs?: number | undefined;
}

export interface GitResult {
  /** Null where a signal ended it. */
  readonly code: number | null;
  /** As UTF-8. Names of files may be none: see `bytes`. */
  readonly stdout: string;
  readonly bytes: Buffer;
  readonly stderr: string;
  /** More was to come, and was left out: see `cutAt`. */
  readonly truncated: boolean;
}

export interface GitRunOptions extends GitPolicy {
  /** Written to its input, which is empty otherwise. */
  readonly input?: string | Buffer | undefined;
  /** Reads only this many bytes, and ends git then. */
  readonly truncateAt?: number | undefined;
  /** Another file in place of the index, which is the agent's or the user's. */
  readonly index?: string | undefined;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
const LOCK_MS = 5_000;
/** A checkout of a large repository takes minutes; git that waits for a FIFO in place of a `.gitignore` never ends. */
const DEADLINE_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/** Names are printed as they are. What a repository may say beyond that, `untrusted.ts` decides. */
const SETTINGS = ["-c", "core.quotePath=false"];

/** Where there is no git-lfs, pointers stay pointers; git would fail otherwise, if the user's settings name it. */
export const DISABLE_LFS: readonly string[] = ["process=", "smudge=", "clean=", "required=false"].flatMap((setting) => [
  "-c",
  `filter.lfs.${setting}`,
]);

/** Its output, without the last line end. Rejects with what `failureOf` makes of a failure, or the signal's reason. */
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
 * What git said, whatever it was: only where git cannot be started, says too much or is given up does it reject. A lock
 * that someone else holds is waited for, and the command given again.
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
    const said = stderr.bytes().toString("utf8");
    return { code: exitCode, stdout: bytes.toString("utf8"), bytes, stderr: said, truncated: stdout.over() };
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", stop);
  }
}

function writeInput({ child }: ProcessGroup, input: string | Buffer | undefined): void {
  child.stdin?.on("error", () => undefined); // it ended without reading all of it; its exit says why
  child.stdin?.end(input);
}

/** Keeps the first bytes, up to the limit, and says once that there are more. */
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

/** Variables that would have git work on something else than the folder it runs in, or talk more than it should. */
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

/** What git, and what we run in a worktree, gets of the environment: nothing that points at another repository. */
export function removeRepositoryVariables(env: Env): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.has(name) && !name.startsWith("GIT_TRACE")),
  );
}

/**
 * Its messages are read, so they are English; it never asks; looking takes no lock that others would wait for; and it
 * finds no repository above the working directory.
 */
function gitEnvironment(cwd: string, env: Env): Env {
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
  return new RookeryError("git_failed", `git ${args[0] ?? ""} printed more than ${megabytes} MB, which is not read`);
}

function deadlineExceeded(cwd: string, args: readonly string[], ms: number): RookeryError {
  return new RookeryError(
    "git_failed",
    `git ${subcommandName(args)} did not end in ${cwd} within ${Math.ceil(ms / 1000)} seconds and was stopped; a file that blocks ` +
      `whoever reads it, such as a FIFO named .gitignore or .gitattributes, may be the reason: find . -type p`,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
