/** What a command prints, on its way into the task's log: gathered for a moment, and not without end. */
import type { Pen } from "./pen.ts";

const GATHER_MS = 200;
const GATHER_LENGTH = 16 * 1024;

export interface Output extends AsyncDisposable {
  add(text: string): void;
}

/** Whoever makes the text bounds it; what cannot be written is told by the next thing that is. */
export function outputTo(pen: Pen, from: string): Output {
  let gathered = "";
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered === "") return;
    const text = gathered;
    gathered = "";
    writing = writing.then(() => pen.write({ type: "output.text", from, text })).catch(() => undefined);
  };
  return {
    add(text) {
      gathered += text;
      if (gathered.length >= GATHER_LENGTH) flush();
      else timer ??= setTimeout(flush, GATHER_MS);
    },
    async [Symbol.asyncDispose]() {
      flush();
      await writing;
    },
  };
}
