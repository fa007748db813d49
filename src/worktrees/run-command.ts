/** Runs a shell command of the user in a worktree, with a time limit and bounded output, and kills everything it started. */
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, messageOf } from "../domain/index.ts";
import {
  deadline,
  DisposeStack,
  killMarked,
  raceAbort,
  startGroup,
  type EnvironmentVariables,
  type ProcessGroup,
} from "../stdx/index.ts";
import { removeRepositoryVariables } from "./git.ts";

export interface ShellCommand {
  /** Passed to `sh -c`. */
  readonly command: string;
  readonly cwd: string;
  readonly env: EnvironmentVariables;
  readonly marker: string;
  readonly timeoutMs: number;
  /** Called with the output as it arrives, up to 1 MB in total, then once with the number of omitted bytes. */
  onOutput(text: string): void;
  readonly signal?: AbortSignal | undefined;
}

export interface ShellCommandResult {
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals | undefined;
  readonly timedOut: boolean;
  /** The end of its output. */
  readonly tail: string;
}

export const MAX_OUTPUT_BYTES = 1024 * 1024;
const TAIL_LENGTH = 4_000;
/** How long to wait for background processes that keep the output open after the shell has exited. */
const DRAIN_MS = 500;

/**
 * Resolves when the command and everything it started has exited, including background processes and processes that left
 * the process group. Rejects with `cwd_missing` if the shell cannot start there, or with the signal's reason.
 */
export async function runCommand(options: ShellCommand): Promise<ShellCommandResult> {
  const { command, cwd, env, marker, timeoutMs, signal } = options;
  signal?.throwIfAborted();
  const target = { cwd, env: removeRepositoryVariables(env), marker };
  const group = await startGroup("sh", ["-c", command], target).catch((cause: unknown) => {
    throw new RookeryError("cwd_missing", `cannot run a command in ${cwd}: ${messageOf(cause)}`, { cause });
  });
  await using running = new DisposeStack();
  running.defer(() => killMarked(group.marker)); // processes that left the group
  running.use(group);
  const output = collectOutput(group, (text) => options.onOutput(text));
  using limit = deadline(timeoutMs, ...(signal === undefined ? [] : [signal]));
  await raceAbort(group.ended, limit.signal).then(
    () => Promise.race([group.exited, sleep(DRAIN_MS, undefined, { ref: false })]),
    () => undefined,
  );
  const timedOut = limit.isLate;
  await group.stop();
  signal?.throwIfAborted();
  const end = await group.exited;
  return { exitCode: end.exitCode, signal: end.signal ?? undefined, timedOut, tail: output.finish() };
}

/** Reads all output as it arrives, so that a lot of it neither blocks the command nor fills memory. */
function collectOutput({ child }: ProcessGroup, pass: (text: string) => void): { finish(): string } {
  let tail = "";
  let passed = 0;
  let omitted = 0;
  const take = (text: string, bytes: number): void => {
    tail = (tail + text).slice(-TAIL_LENGTH);
    if (passed + bytes > MAX_OUTPUT_BYTES) {
      omitted += bytes;
      return;
    }
    passed += bytes;
    if (text !== "") pass(text);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (bytes: Buffer) => take(decoder.write(bytes), bytes.length));
    stream?.on("error", () => undefined); // destroyed on purpose when the group is stopped
  }
  return {
    finish() {
      if (omitted > 0) pass(`\n… ${omitted} bytes omitted\n`);
      return tail.toWellFormed();
    },
  };
}
