/** Runs a command of the user's in a shell, in a worktree: with a time limit, bounded output, and nothing left behind. */
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError, messageOf } from "../domain/index.ts";
import { deadline, DisposeStack, killMarked, raceAbort, startGroup, type ProcessGroup } from "../stdx/index.ts";
import { removeRepositoryVariables, type Env } from "./git.ts";

export interface ShellCommand {
  /** For `sh -c`. */
  readonly command: string;
  readonly cwd: string;
  readonly env: Env;
  readonly marker: string;
  readonly timeoutMs: number;
  /** Called with what it prints as it comes, up to a megabyte in all; then once with how much was left out. */
  onOutput(text: string): void;
  readonly signal?: AbortSignal | undefined;
}

export interface ShellCommandResult {
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals | undefined;
  readonly timedOut: boolean;
  /** The last of what it printed. */
  readonly tail: string;
}

export const MAX_OUTPUT_BYTES = 1024 * 1024;
const TAIL_LENGTH = 4_000;
/** What still holds the output open after the shell ended is in the background, and ends with it. */
const DRAIN_MS = 500;

/**
 * Resolves when the command, and all that it started, is gone; also what left its process group, or was left in the
 * background. Rejects only where there is no shell or no folder, or with the signal's reason.
 */
export async function runCommand(options: ShellCommand): Promise<ShellCommandResult> {
  const { command, cwd, env, marker, timeoutMs, signal } = options;
  signal?.throwIfAborted();
  const place = { cwd, env: removeRepositoryVariables(env), marker };
  const group = await startGroup("sh", ["-c", command], place).catch((cause: unknown) => {
    throw new RookeryError("cwd_missing", `no command can be run in ${cwd}: ${messageOf(cause)}`, { cause });
  });
  await using running = new DisposeStack();
  running.defer(() => killMarked(group.marker)); // what left the group
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

/** Read as it comes, so that a flood neither blocks the command nor fills the memory. */
function collectOutput({ child }: ProcessGroup, pass: (text: string) => void): { finish(): string } {
  let tail = "";
  let passed = 0;
  let leftOut = 0;
  const take = (text: string, bytes: number): void => {
    tail = (tail + text).slice(-TAIL_LENGTH);
    if (passed + bytes > MAX_OUTPUT_BYTES) {
      leftOut += bytes;
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
      if (leftOut > 0) pass(`\n… ${leftOut} bytes left out\n`);
      return tail.toWellFormed();
    },
  };
}
