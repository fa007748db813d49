/** Shows a long text in the pager of the person at the terminal. */
import { spawn, type ChildProcess } from "node:child_process";
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { commandChildEnvironment } from "../../config/own-credentials.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { settlesWithin } from "../../stdx/wait.ts";
import { messageOf } from "../../domain/errors.ts";
import { type Io, printNotice } from "../io.ts";

const DEFAULT_PAGER = "less -R";
/** The shell's exit code for a command that does not exist. */
const NOT_FOUND = 127;
/** The shell's exit code for a command that SIGINT ended. */
const INTERRUPTED = 130;
/** How long to wait for the SIGINT that also ended the pager. It arrives within milliseconds, if at all. */
const LATE_INTERRUPT_MS = 1_000;

export function choosePager(env: EnvironmentVariables): string {
  const pager = env["PAGER"]?.trim() ?? "";
  return pager === "" ? DEFAULT_PAGER : pager;
}

/**
 * Resolves when the person has closed the pager. Prints a notice if it cannot be started. The text must be safe for a
 * terminal. Ends the pager when the signal fires, and rejects with the signal's reason.
 */
export async function openPager(io: Pick<Io, "env" | "stderr">, text: string, signal: AbortSignal): Promise<void> {
  const pager = choosePager(io.env);
  using interrupts = ignoreInterrupts();
  try {
    // stdout may be a pipe, but stderr is the terminal: without it, nobody is asked.
    const env = { LESS: "R", ...(await commandChildEnvironment(io.env)) };
    const child = spawn("sh", ["-c", pager], { stdio: ["pipe", 2, 2], env, signal });
    child.stdin?.on("error", () => undefined); // the person may close the pager before it has read everything
    child.stdin?.end(text);
    const { exitCode, killedBy } = await waitForClose(child);
    // The terminal sends SIGINT to both processes, but this one may learn of the pager's exit first.
    if (killedBy === "SIGINT" || exitCode === INTERRUPTED) await interrupts.waitForFirst(LATE_INTERRUPT_MS);
    if (exitCode === NOT_FOUND) printNotice(io, `there is no pager "${pager}"; set PAGER to a program that exists`);
  } catch (error) {
    signal.throwIfAborted();
    printNotice(io, `cannot start the pager "${pager}": ${messageOf(error)}; set PAGER to another program`);
  } finally {
    await nextLoopTurn(); // a SIGINT that arrived with the exit may be reported after it
  }
}

function waitForClose(child: ChildProcess): Promise<{ exitCode: number | null; killedBy: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });
}

interface IgnoredInterrupts extends Disposable {
  /** Resolves when the first SIGINT has arrived, or after this time. */
  waitForFirst(milliseconds: number): Promise<void>;
}

/** Ctrl-C in the pager reaches this process too, and must not cancel the turn. */
function ignoreInterrupts(): IgnoredInterrupts {
  const listeners = process.listeners("SIGINT");
  const first = deferred();
  const ignore = (): void => first.resolve();
  process.removeAllListeners("SIGINT");
  process.on("SIGINT", ignore);
  return {
    async waitForFirst(milliseconds) {
      await settlesWithin(milliseconds, first.promise);
    },
    [Symbol.dispose]() {
      for (const listener of listeners) process.on("SIGINT", listener);
      process.off("SIGINT", ignore);
    },
  };
}
