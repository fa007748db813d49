/**
 * A spinner for terminals, with lines above it, such as a message that streams, and below it, such as the end of a
 * command's output.
 */
import { styledWidth, truncateToWidth } from "../display-width.ts";
import { terminalWidth, type TerminalStream } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";

export interface Spinner extends Disposable {
  /** Shows the label after a short silence, or at once if there are lines above it or the spinner is visible. */
  wait(label: string, around?: SpinnerLines): void;
  /** Erases the spinner, so that other text can be written. */
  clear(): void;
}

/** Lines around the spinner, read for each frame. They must be safe for a terminal and fit into its width and height. */
export interface SpinnerLines {
  readonly above?: () => readonly string[];
  readonly below?: () => readonly string[];
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
/** Delay before the spinner appears, so that streaming text does not flicker. */
const SILENCE_MS = 400;
const ERASE_LINE_END = "\u001b[K";
const ERASE_BELOW = "\u001b[J";

/** Does nothing; for pipes and dumb terminals. */
export const noSpinner: Spinner = { wait: () => undefined, clear: () => undefined, [Symbol.dispose]: () => undefined };

export function startSpinner(stream: TerminalStream): Spinner {
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  let label = "";
  let around: SpinnerLines = {};
  /** Widths of the lines that are drawn. */
  let drawn: readonly number[] = [];
  /** Moves the cursor to the start of the first drawn line. A narrower terminal wraps lines into several rows. */
  const returnToStart = (): string => {
    const columns = terminalWidth(stream) ?? 80;
    const rows = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return rows > 1 ? `\r\u001b[${rows - 1}A` : "\r";
  };
  const clear = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (drawn.length > 0) stream.write(`${returnToStart()}${ERASE_BELOW}`);
    drawn = [];
  };
  const draw = (): void => {
    const width = Math.max(10, (terminalWidth(stream) ?? 80) - 3);
    const first = `${FRAMES[frame % FRAMES.length] ?? ""} ${truncateToWidth(toSingleLine(label), width)}`;
    const lines = [...(around.above?.() ?? []), first, ...(around.below?.() ?? [])];
    const widths = lines.map((line) => styledWidth(line));
    const columns = terminalWidth(stream) ?? 80;
    // Each line is overwritten before its rest is erased, in one write, so that nothing flickers. After a full line, the
    // cursor is still on the last character, which must not be erased.
    const text = lines.map((line, index) => ((widths[index] ?? 0) < columns ? `${line}${ERASE_LINE_END}` : line));
    stream.write(`${drawn.length > 0 ? returnToStart() : "\r"}${text.join("\r\n")}${ERASE_BELOW}`);
    drawn = widths;
    frame += 1;
    timer = setTimeout(draw, FRAME_MS).unref();
  };
  return {
    wait(nextLabel, nextAround = {}) {
      [label, around] = [nextLabel, nextAround];
      const isUrgent = drawn.length === 0 && around.above !== undefined;
      if (timer !== undefined && !isUrgent) return; // the next frame shows it
      clearTimeout(timer);
      if (!isUrgent) {
        frame = 0;
        timer = setTimeout(draw, SILENCE_MS).unref();
      } else draw();
    },
    clear,
    [Symbol.dispose]: clear,
  };
}
