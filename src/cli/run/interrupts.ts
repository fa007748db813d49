/** What ends a turn from outside: a signal or the loss of the output cancels it, Ctrl-C a second time quits at once. */
import { EXIT } from "../exit.ts";
import { type Io, printNotice } from "../io.ts";

export interface Interrupts extends Disposable {
  /** Fires with the first signal. */
  readonly signal: AbortSignal;
}

const CANCELLING = ["SIGTERM", "SIGHUP"] as const;

export function watchInterrupts(io: Io): Interrupts {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled); // children are swept at the next start
    io.stderr.write("\n");
    printNotice(io, "cancelling; Ctrl-C again quits at once");
    cancel();
  };
  process.on("SIGINT", interrupt);
  for (const name of CANCELLING) process.on(name, cancel);
  process.on("SIGHUP", exitWithoutTerminalReset);
  io.onOutputClosed.add(cancel);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      process.off("SIGINT", interrupt);
      for (const name of CANCELLING) process.off(name, cancel);
      process.off("SIGHUP", exitWithoutTerminalReset);
      io.onOutputClosed.delete(cancel);
    },
  };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Node 20 aborts, and may leave a core file, when it puts a terminal in order at its exit that is gone by then. */
function exitWithoutTerminalReset(): void {
  if (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) {
    process.once("exit", () => process.kill(process.pid, "SIGKILL"));
  }
}
