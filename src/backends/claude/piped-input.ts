/** Runs Claude Code with its output on a terminal and its input on a pipe: it reads no records from a terminal (2.1.325). */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PipedInput extends AsyncDisposable {
  readonly command: readonly string[];
}

/** Forwards terminal input through a named pipe, so the program stays the process that was started. */
const PIPED = 'mkfifo -m 600 "$0" && { cat <&3 >"$0" 3<&- & } 3<&0 && exec "$@" <"$0"';

/** Dispose of it once the program runs; the pipe's name is not needed any longer. */
export async function createPipedInput(command: readonly string[]): Promise<PipedInput> {
  const folder = await mkdtemp(join(tmpdir(), "rookery-claude-"));
  return {
    command: ["/bin/sh", "-c", PIPED, join(folder, "input"), ...command],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
