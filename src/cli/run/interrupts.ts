/** Watches the interrupts of a turn: a signal or a lost stdout cancels it; a second Ctrl-C quits immediately. */
import { EXIT } from "../exit.ts";
import { type Io, printNotice } from "../io.ts";

export interface Interrupts extends Disposable {
  /** Aborts at the first interrupt. */
  readonly signal: AbortSignal;
}

const CANCELLING = ["SIGTERM", "SIGHUP"] as const;

/** `beforeNotice` is called before the notice about a cancel is printed, to finish the line that is being written. */
export function watchInterrupts(io: Io, beforeNotice: () => void = () => undefined): Interrupts {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled); // the next start ends the child processes
    beforeNotice();
    io.stderr.write("\n");
    printNotice(io, "cancelling; press Ctrl-C again to quit immediately");
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

/** Node 20 aborts and may dump core if it resets a closed terminal at exit, so this kills the process first. */
export function exitWithoutTerminalReset(): void {
  if (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) {
    process.once("exit", () => process.kill(process.pid, "SIGKILL"));
  }
}
