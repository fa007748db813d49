/** The keys that end a view: q and Ctrl-C, and what else ends a command. */
import type { Io } from "../io.ts";

export interface Keys extends Disposable {
  /** Fires when the person has seen enough. */
  readonly left: AbortSignal;
  leave(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** In raw mode Ctrl-C and Ctrl-D come as these characters. */
const LEAVING = /[qQ\u0003\u0004]/;

export function watchKeys(io: Io): Keys {
  const controller = new AbortController();
  const leave = (): void => controller.abort();
  const typed = (keys: Buffer | string): void => {
    if (LEAVING.test(String(keys))) leave();
  };
  const { person } = io;
  const terminal = person as (NodeJS.ReadableStream & { setRawMode?: (raw: boolean) => unknown }) | undefined;
  for (const name of SIGNALS) process.on(name, leave);
  io.outputGone.add(leave);
  terminal?.setRawMode?.(true); // Node puts it back where the process ends otherwise
  terminal?.on("data", typed).resume();
  return {
    left: controller.signal,
    leave,
    [Symbol.dispose]() {
      for (const name of SIGNALS) process.off(name, leave);
      io.outputGone.delete(leave);
      terminal?.off("data", typed);
      terminal?.setRawMode?.(false);
      terminal?.pause();
    },
  };
}
