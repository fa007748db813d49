/** Returns the size of a terminal. Default: 80×24, for terminals that report 0. */
import type { TerminalStream } from "../io.ts";

export function terminalSize({ columns = 0, rows = 0 }: TerminalStream): {
  readonly width: number;
  readonly height: number;
} {
  return { width: columns > 0 ? columns : 80, height: rows > 0 ? rows : 24 };
}
