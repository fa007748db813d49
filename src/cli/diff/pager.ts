/** Shows a long text in the pager of the person at the terminal. */
import { spawn } from "node:child_process";
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { commandChildEnvironment } from "../../config/own-credentials.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { messageOf } from "../../domain/errors.ts";
import { type Io, printNotice } from "../io.ts";

const DEFAULT_PAGER = "less -R";
/** The shell's exit code for a command that does not exist. */
const NOT_FOUND = 127;

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
  using _interrupts = ignoreInterrupts();
  try {
    // stdout may be a pipe, but stderr is the terminal: without it, nobody is asked.
    const env = { LESS: "R", ...(await commandChildEnvironment(io.env)) };
    const child = spawn("sh", ["-c", pager], { stdio: ["pipe", 2, 2], env, signal });
    child.stdin?.on("error", () => undefined); // the person may close the pager before it has read everything
    child.stdin?.end(text);
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (exitCode === NOT_FOUND) printNotice(io, `there is no pager "${pager}"; set PAGER to a program that exists`);
  } catch (error) {
    signal.throwIfAborted();
    printNotice(io, `cannot start the pager "${pager}": ${messageOf(error)}; set PAGER to another program`);
  } finally {
    await nextLoopTurn(); // a Ctrl-C that ended the pager may be reported after its exit
  }
}

/** Ctrl-C in the pager reaches this process too, and must not cancel the turn. */
function ignoreInterrupts(): Disposable {
  const listeners = process.listeners("SIGINT");
  const ignore = (): void => undefined;
  process.removeAllListeners("SIGINT");
  process.on("SIGINT", ignore);
  return {
    [Symbol.dispose]() {
      for (const listener of listeners) process.on("SIGINT", listener);
      process.off("SIGINT", ignore);
    },
  };
}
