/** A spinner for terminals. */
import type { TerminalStream } from "../io.ts";
import { toSingleLine } from "../sanitize.ts";

export interface Spinner extends Disposable {
  /** Shows the label after a short silence. */
  wait(label: string): void;
  /** Erases the spinner, so that other text can be written. */
  clear(): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
/** Delay before the spinner appears, so that streaming text does not flicker. */
const SILENCE_MS = 400;
const ERASE = "\r\u001b[2K";

/** Does nothing; for pipes and dumb terminals. */
export const noSpinner: Spinner = { wait: () => undefined, clear: () => undefined, [Symbol.dispose]: () => undefined };

export function startSpinner(stream: TerminalStream): Spinner {
  let timer: NodeJS.Timeout | undefined;
  let drawn = false;
  const clear = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (drawn) stream.write(ERASE);
    drawn = false;
  };
  const draw = (label: string, frame: number): void => {
    const text = toSingleLine(label, Math.max(10, (stream.columns ?? 80) - 3));
    stream.write(`${ERASE}${FRAMES[frame % FRAMES.length] ?? ""} ${text}`);
    drawn = true;
    timer = setTimeout(draw, FRAME_MS, label, frame + 1).unref();
  };
  return {
    wait(label) {
      clear();
      timer = setTimeout(draw, SILENCE_MS, label, 0).unref();
    },
    clear,
    [Symbol.dispose]: clear,
  };
}
