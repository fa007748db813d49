/** A spinner for terminals, with lines below it, such as the end of a command's output. */
import { displayWidth, truncateToWidth } from "../display-width.ts";
import { terminalWidth, type TerminalStream } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";

export interface Spinner extends Disposable {
  /**
   * Shows the label after a short silence, or at once if the spinner is visible. `below` returns the lines below it,
   * which must be safe for a terminal and fit into its width and height.
   */
  wait(label: string, below?: () => readonly string[]): void;
  /** Erases the spinner, so that other text can be written. */
  clear(): void;
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
  let below: () => readonly string[] = () => [];
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
    const lines = [first, ...below()];
    // Each line is overwritten before its rest is erased, in one write, so that nothing flickers.
    const text = lines.map((line) => `${line}${ERASE_LINE_END}`).join("\r\n");
    stream.write(`${drawn.length > 0 ? returnToStart() : "\r"}${text}${ERASE_BELOW}`);
    drawn = lines.map((line) => displayWidth(removeColors(line)));
    frame += 1;
    timer = setTimeout(draw, FRAME_MS).unref();
  };
  return {
    wait(nextLabel, nextBelow = () => []) {
      [label, below] = [nextLabel, nextBelow];
      if (timer !== undefined) return; // the next frame shows it
      frame = 0;
      timer = setTimeout(draw, SILENCE_MS).unref();
    },
    clear,
    [Symbol.dispose]: clear,
  };
}

function removeColors(text: string): string {
  return text.replaceAll(/\u001b\[[\d;]*m/g, "");
}
