/** Watches the signals that stop a server: the first stops it gracefully, the second quits immediately. */
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";

export interface StopSignals extends Disposable {
  readonly signal: AbortSignal;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function watchStopSignals(io: Io): StopSignals {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled); // the next start ends the child processes
    controller.abort();
  };
  const ignoreClosedOutput = (): void => undefined; // the server keeps running without a reader of its output
  for (const name of SIGNALS) process.on(name, stop);
  io.onOutputClosed.add(ignoreClosedOutput);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of SIGNALS) process.off(name, stop);
      io.onOutputClosed.delete(ignoreClosedOutput);
    },
  };
}
