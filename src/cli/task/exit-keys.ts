/** Watches the keys and signals that end a live view: q, Ctrl-C, SIGTERM, SIGHUP. */
import type { Io } from "../io.ts";

export interface ExitKeys extends Disposable {
  /** Aborts when the person quits. */
  readonly exited: AbortSignal;
  exit(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** In raw mode, Ctrl-C and Ctrl-D arrive as these characters. */
const EXIT_KEYS = /[qQ\u0003\u0004]/;

export function watchExitKeys(io: Io): ExitKeys {
  const controller = new AbortController();
  const leave = (): void => controller.abort();
  const typed = (keys: Buffer | string): void => {
    if (EXIT_KEYS.test(String(keys))) leave();
  };
  const { terminalInput } = io;
  const terminal = terminalInput as (NodeJS.ReadableStream & { setRawMode?: (raw: boolean) => unknown }) | undefined;
  for (const name of SIGNALS) process.on(name, leave);
  io.onOutputClosed.add(leave);
  terminal?.setRawMode?.(true); // Node restores the mode if the process exits early
  terminal?.on("data", typed).resume();
  return {
    exited: controller.signal,
    exit: leave,
    [Symbol.dispose]() {
      for (const name of SIGNALS) process.off(name, leave);
      io.onOutputClosed.delete(leave);
      terminal?.off("data", typed);
      terminal?.setRawMode?.(false);
      terminal?.pause();
    },
  };
}
