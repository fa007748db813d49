/** Records the output of a command in the task's log, in batches. */
import type { TaskWriter } from "./task-writer.ts";

const FLUSH_MS = 200;
const FLUSH_LENGTH = 16 * 1024;

export interface OutputRecorder extends AsyncDisposable {
  add(text: string): void;
}

/** The caller bounds the text. Ignores failed writes: the next write to the log reports the failure. */
export function openOutputRecorder(writer: TaskWriter, from: string): OutputRecorder {
  let gathered = "";
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered === "") return;
    const text = gathered;
    gathered = "";
    writing = writing.then(() => writer.write({ type: "output.text", from, text })).catch(() => undefined);
  };
  return {
    add(text) {
      gathered += text;
      if (gathered.length >= FLUSH_LENGTH) flush();
      else timer ??= setTimeout(flush, FLUSH_MS);
    },
    async [Symbol.asyncDispose]() {
      flush();
      await writing;
    },
  };
}
