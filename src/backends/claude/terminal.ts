/** Claude Code on a terminal: its output is one, and its input is not, for it reads no records from a terminal (2.1.325). */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PipedInput extends AsyncDisposable {
  readonly command: readonly string[];
}

/** What is typed goes through a pipe with a name, so that the program stays the process that was started. */
const PIPED = 'mkfifo -m 600 "$0" && { cat <&3 >"$0" 3<&- & } 3<&0 && exec "$@" <"$0"';

/** The name is needed until the program runs. */
export async function pipedInput(command: readonly string[]): Promise<PipedInput> {
  const folder = await mkdtemp(join(tmpdir(), "rookery-claude-"));
  return {
    command: ["/bin/sh", "-c", PIPED, join(folder, "input"), ...command],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
