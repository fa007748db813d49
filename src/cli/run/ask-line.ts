/** Asks the person at the terminal for one line. */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Io } from "../io.ts";

/** Input typed before the question appeared is not an answer. */
const STALE_INPUT_MS = 50;

/** Undefined if the person closed the input. Rejects with the signal's reason. */
export async function askLine(io: Io, text: string, signal: AbortSignal): Promise<string | undefined> {
  const { terminalInput } = io;
  if (terminalInput === undefined) return undefined;
  await dropStaleInput(terminalInput);
  signal.throwIfAborted();
  // The terminal stays in line mode, so that Ctrl-C still sends a signal.
  const lines = createInterface({ input: terminalInput, terminal: false });
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    io.stderr.write(text);
    const line = await new Promise<string | undefined>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(undefined));
    });
    if (line === undefined) io.stderr.write("\n");
    signal.throwIfAborted();
    return line;
  } finally {
    signal.removeEventListener("abort", stop);
    lines.close();
    terminalInput.pause();
  }
}

/** True for input that starts with `y`. */
export async function confirm(io: Io, text: string, signal: AbortSignal): Promise<boolean> {
  return /^y/i.test((await askLine(io, `${text} [y/N] `, signal))?.trim() ?? "");
}

async function dropStaleInput(input: NodeJS.ReadableStream): Promise<void> {
  const drop = (): void => undefined;
  input.on("data", drop);
  input.resume();
  await sleep(STALE_INPUT_MS);
  input.off("data", drop);
  input.pause();
}
