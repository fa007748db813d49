/** A pseudo-terminal that passes bytes on as they are, both ways, as two pipes would. */
import { closeSync, readSync, write } from "node:fs";
import { Readable, Writable } from "node:stream";
import { ReadStream } from "node:tty";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, RookeryError } from "../domain/errors.ts";

export interface Terminal extends Disposable {
  /** What a program opens to be on it. */
  readonly path: string;
  readonly input: Writable;
  /** Ends when nobody is on the terminal any more; it is closed once this is. */
  readonly output: Readable;
  /** Somebody is on it: from now on it ends with them. */
  taken(): void;
  /** Where nobody came to be on it. */
  [Symbol.dispose](): void;
}

/**
 * What a shell does to its terminal before it becomes the program. Lines are kept together by the terminal itself, for
 * only so can a program see the end of its input; whatever would change a byte is off. The byte that ends the input, or
 * passes on a line that is not finished, is one that no UTF-8 has.
 */
export const AS_IT_IS = `stty raw -echo -iexten icanon erase undef kill undef eol undef eol2 undef eof "$(printf '\\376')"`;
const PASS_ON = Buffer.of(0o376);
/** Linux keeps 4,095 bytes of a line and forgets the rest; others keep less. */
const LONGEST_LINE = 1_000;
/** A pipe stays at its end; a terminal is at its end once for each time that it is told. */
const ENDS = Buffer.alloc(8, PASS_ON);

/** So wide that nothing wraps that looks at the width. */
const [COLUMNS, ROWS] = [200, 50];

/**
 * Rejects with `agent_unavailable` where this machine has none. Whatever is started while it is open inherits its master
 * side (node-pty 1.1.0 does not ask otherwise), so that it may not hang up before they end: nothing here relies on that.
 */
export async function openTerminal(): Promise<Terminal> {
  const { master, slave, pty: path } = (await native()).open(COLUMNS, ROWS);
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
  return { path, input, output, taken, [Symbol.dispose]: dispose };
}

interface Native {
  open(columns: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string };
}

/** What the package offers for the public takes the output away 200 ms after the end, read or not, and blocks to write. */
async function native(): Promise<Native> {
  try {
    // @ts-expect-error: a part of the package that has no types
    const loader = (await import("@lydell/node-pty/requireBinary.js")) as { requireBinary(file: string): Native };
    return loader.requireBinary("pty.node");
  } catch (cause) {
    const [why = ""] = messageOf(cause).split("\n");
    const words = `there is no terminal to start a program in, because @lydell/node-pty cannot be loaded: ${why}`;
    throw new RookeryError("agent_unavailable", `${words}; install it, or leave out pty = true`, { cause });
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
    this.#tap = new ReadStream(fd, { allowHalfOpen: true }); // or it would be closed at its end, before the rest is read
    this.#tap.on("data", (chunk) => {
      if (!this.push(chunk)) this.#tap.pause();
    });
    this.#tap.once("end", () => this.#finish(this.#rest()));
    this.#tap.once("error", () => this.#finish([])); // EIO: nobody is there any more, and everything was read
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

  /** libuv takes a hang-up for the end although there is more to read (seen in Node 20.20.2); it is some 12 KB at most. */
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
/** How long to wait where the program has not read yet what was written, at first and at most. */
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
    this.#send(this.#column === 0 ? ENDS : Buffer.concat([PASS_ON, ENDS]), done);
  }

  /** Nothing is being written: the terminal can be closed, and its number be another file's. */
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

  /** No line is longer than the terminal keeps. Never passes on a line that is empty: that would be the end. */
  #cut(bytes: Buffer): Buffer {
    const parts: Buffer[] = [];
    let kept = 0;
    for (let at = 0; at < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline === -1 ? bytes.length : newline + 1;
      const room = LONGEST_LINE - this.#column;
      if (end - at <= room) {
        this.#column = newline === -1 ? this.#column + end - at : 0;
        at = end;
      } else {
        at += room;
        parts.push(bytes.subarray(kept, at), PASS_ON);
        kept = at;
        this.#column = 0;
      }
    }
    return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(kept)]);
  }
}

const NEWLINE = 10;
