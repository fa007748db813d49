/** What ends a server: the first signal asks it to, the second does not wait. */
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";

export interface StopSignals extends Disposable {
  readonly signal: AbortSignal;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function watchStopSignals(io: Io): StopSignals {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled); // children are swept at the next start
    controller.abort();
  };
  const goOn = (): void => undefined; // nobody reads what it prints, and it serves all the same
  for (const name of SIGNALS) process.on(name, stop);
  io.onOutputClosed.add(goOn);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of SIGNALS) process.off(name, stop);
      io.onOutputClosed.delete(goOn);
    },
  };
}
