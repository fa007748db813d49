/** Reads lines and writes bytes. The agent builds its own JSON lines, so that a script can also produce invalid ones. */

import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Yields each line without its newline. Text after the last newline is also a line, unless it is empty. */
export async function* readLines(input: Readable): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  for await (const chunk of input) {
    let rest = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer);
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      yield Buffer.concat([...pieces, rest.subarray(0, end)]).toString("utf8");
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pieces.push(rest);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString("utf8");
}

/** Writes in call order, even if one write takes long. */
export class OrderedOutput {
  readonly #stream: Writable;
  #last: Promise<void> = Promise.resolve();
  #gone = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    // The reader may close the pipe at any time; later writes are lost.
    stream.once("error", () => (this.#gone = true));
    stream.once("close", () => (this.#gone = true));
  }

  /** Writes a JSON line. Resolves when the stream has flushed it. */
  send(message: unknown): Promise<void> {
    return this.write(JSON.stringify(message) + "\n");
  }

  write(bytes: string | Uint8Array): Promise<void> {
    return this.#enqueue(() => this.#pass(bytes));
  }

  /** Writes the pieces with pauses. Other writes wait until all pieces are written. */
  writeInPieces(pieces: readonly Uint8Array[], pauseMs: number): Promise<void> {
    return this.#enqueue(async () => {
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) await pause(pauseMs);
        await this.#pass(piece);
      }
    });
  }

  /** Resolves when all earlier writes are flushed. */
  flushed(): Promise<void> {
    return this.#last;
  }

  /** Ends the stream after all earlier writes. */
  end(): Promise<void> {
    return this.#enqueue(
      () =>
        new Promise<void>((resolve) => {
          if (this.#gone) return resolve();
          this.#stream.once("close", resolve);
          this.#stream.end(resolve);
        }),
    );
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work);
    return this.#last;
  }

  #pass(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#gone || this.#stream.writableEnded) return resolve();
      const done = (): void => {
        this.#stream.off("close", done);
        resolve();
      };
      this.#stream.once("close", done);
      this.#stream.write(bytes, done);
    });
  }
}
