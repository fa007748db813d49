/** Ends a chat when its terminal is closed or it is asked to end. */
import type { Io } from "../io.ts";
import { exitWithoutTerminalReset } from "../run/interrupts.ts";

const ENDING_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

export function watchChatSignals(io: Io, end: () => void): Disposable {
  for (const name of ENDING_SIGNALS) process.on(name, end);
  process.on("SIGHUP", exitWithoutTerminalReset);
  io.onOutputClosed.add(end);
  return {
    [Symbol.dispose]() {
      for (const name of ENDING_SIGNALS) process.off(name, end);
      process.off("SIGHUP", exitWithoutTerminalReset);
      io.onOutputClosed.delete(end);
    },
  };
}
