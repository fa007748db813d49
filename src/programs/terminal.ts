/** A pseudo-terminal that forwards bytes unchanged in both directions, like two pipes. */
import { closeSync, readSync, write } from "node:fs";
import { Readable, Writable } from "node:stream";
import { ReadStream } from "node:tty";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, RookeryError } from "../domain/errors.ts";

export interface Terminal extends Disposable {
  /** The device that a program opens. */
  readonly path: string;
  readonly input: Writable;
  /** Ends when no process has the terminal open; then the terminal is closed. */
  readonly output: Readable;
  /** Call when a process has opened the terminal. From then on it ends with that process. */
  markOpened(): void;
  /** Closes a terminal that no process opened. */
  [Symbol.dispose](): void;
}

/**
 * Terminal settings of the shell before it execs the program. The terminal stays line-buffered, because only then does a
 * program see the end of its input; everything that would change a byte is off. The EOF character, which ends the input
 * or forwards an unfinished line, is a byte that never occurs in UTF-8.
 */
export const RAW_MODE_COMMAND = `stty raw -echo -iexten icanon erase undef kill undef eol undef eol2 undef eof "$(printf '\\376')"`;
const EOF_CHARACTER = Buffer.of(0o376);
/** Linux buffers 4,095 bytes of a line and drops the rest; other systems buffer less. */
const MAX_LINE_BYTES = 1_000;
/** A pipe stays at its end. A terminal signals the end once per EOF character. */
const END_OF_INPUT = Buffer.alloc(8, EOF_CHARACTER);

/** Wide enough that programs do not wrap. */
const [COLUMNS, ROWS] = [200, 50];

/**
 * Rejects with `agent_unavailable` if the machine has no terminals. Processes started while the terminal is open inherit
 * its master side (node-pty 1.1.0), which may delay the hang-up until they exit. Nothing here relies on the hang-up.
 */
export async function openTerminal(): Promise<Terminal> {
  const { master, slave, pty: path } = (await loadNativePty()).open(COLUMNS, ROWS);
  const input = new TerminalInput(master);
  const output = new TerminalOutput(master, input);
  let held = true;
  const taken = (): void => {
    if (held) closeSync(slave);
    held = false;
  };
  const dispose = (): void => {
    taken();
    output.destroy();
  };
  return { path, input, output, markOpened: taken, [Symbol.dispose]: dispose };
}

interface Native {
  open(columns: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string };
}

/** The public API of the package discards output 200 ms after the exit, and its writes block. */
async function loadNativePty(): Promise<Native> {
  try {
    // @ts-expect-error: this part of the package has no types
    const loader = (await import("@lydell/node-pty/requireBinary.js")) as { requireBinary(file: string): Native };
    return loader.requireBinary("pty.node");
  } catch (cause) {
    const [why = ""] = messageOf(cause).split("\n");
    const words = `cannot open a terminal because @lydell/node-pty does not load: ${why}`;
    throw new RookeryError("agent_unavailable", `${words}; install it, or remove pty = true`, { cause });
  }
}

const CHUNK = 64 * 1024;

class TerminalOutput extends Readable {
  readonly #fd: number;
  readonly #tap: ReadStream;
  readonly #input: TerminalInput;

  constructor(fd: number, input: TerminalInput) {
    super({ highWaterMark: CHUNK });
    this.#fd = fd;
    this.#input = input;
    this.#tap = new ReadStream(fd, { allowHalfOpen: true }); // otherwise it closes at its end, before the rest is read
    this.#tap.on("data", (chunk) => {
      if (!this.push(chunk)) this.#tap.pause();
    });
    this.#tap.once("end", () => this.#finish(this.#rest()));
    this.#tap.once("error", () => this.#finish([])); // EIO: no process has it open, and everything was read
    this.#tap.pause();
  }

  override _read(): void {
    this.#tap.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#input.destroy();
    void this.#input.idle().then(() => {
      this.#tap.destroy();
      done(error);
    });
  }

  /** Reads what libuv leaves unread when it treats a hang-up as the end (Node 20.20.2); at most about 12 KB. */
  #rest(): Buffer[] {
    const chunks: Buffer[] = [];
    for (;;) {
      const chunk = Buffer.alloc(CHUNK);
      try {
        const bytes = readSync(this.#fd, chunk);
        if (bytes === 0) return chunks;
        chunks.push(chunk.subarray(0, bytes));
      } catch {
        return chunks;
      }
    }
  }

  #finish(rest: readonly Buffer[]): void {
    for (const chunk of rest) this.push(chunk);
    this.push(null);
    this.#input.destroy();
  }
}

const writeSome = promisify(write);
/** Initial and maximum wait while the program has not read earlier input. */
const [FULL_MS, LONG_FULL_MS] = [1, 20];

class TerminalInput extends Writable {
  readonly #fd: number;
  #column = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(fd: number) {
    super({ decodeStrings: true });
    this.#fd = fd;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(this.#cut(bytes), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send(this.#column === 0 ? END_OF_INPUT : Buffer.concat([EOF_CHARACTER, END_OF_INPUT]), done);
  }

  /** Resolves when no write is pending. Only then may the file descriptor be closed and reused. */
  idle(): Promise<void> {
    return this.#writing;
  }

  #send(bytes: Buffer, done: (error?: Error | null) => void): void {
    this.#writing = this.#writeAll(bytes).then(
      () => done(),
      (error: unknown) => done(error instanceof Error ? error : new Error(messageOf(error))),
    );
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    let wait = FULL_MS;
    for (let at = 0; at < bytes.length;) {
      if (this.destroyed) throw new Error("the terminal was closed");
      try {
        at += (await writeSome(this.#fd, bytes, at, bytes.length - at, null)).bytesWritten;
        wait = FULL_MS;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        await sleep(wait);
        wait = Math.min(2 * wait, LONG_FULL_MS);
      }
    }
  }

  /** Splits lines that exceed the terminal's buffer. Never forwards an empty line, which would end the input. */
  #cut(bytes: Buffer): Buffer {
    const parts: Buffer[] = [];
    let kept = 0;
    for (let at = 0; at < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline === -1 ? bytes.length : newline + 1;
      const room = MAX_LINE_BYTES - this.#column;
      if (end - at <= room) {
        this.#column = newline === -1 ? this.#column + end - at : 0;
        at = end;
      } else {
        at += room;
        parts.push(bytes.subarray(kept, at), EOF_CHARACTER);
        kept = at;
        this.#column = 0;
      }
    }
    return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(kept)]);
  }
}

const NEWLINE = 10;
