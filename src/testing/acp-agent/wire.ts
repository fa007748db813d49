/** Lines in and bytes out: newline-delimited JSON written by hand, so that every way to get it wrong is at hand too. */

import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Each line without its end, as it arrives; what follows the last line end is a line when it is not empty. */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
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

/** Writes in the order of the calls, also when one of them takes its time. */
export class Output {
  readonly #stream: Writable;
  #last: Promise<void> = Promise.resolve();
  #gone = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    // Whoever reads may go at any time; what is written then is lost, as on every pipe.
    stream.once("error", () => (this.#gone = true));
    stream.once("close", () => (this.#gone = true));
  }

  /** Resolves when the stream has passed it on. */
  send(message: unknown): Promise<void> {
    return this.write(JSON.stringify(message) + "\n");
  }

  write(bytes: string | Uint8Array): Promise<void> {
    return this.#enqueue(() => this.#pass(bytes));
  }

  /** Nothing else is written between the pieces. */
  writeInPieces(pieces: readonly Uint8Array[], pauseMs: number): Promise<void> {
    return this.#enqueue(async () => {
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) await pause(pauseMs);
        await this.#pass(piece);
      }
    });
  }

  /** Resolves when everything up to now is passed on. */
  flushed(): Promise<void> {
    return this.#last;
  }

  /** Closes behind everything that was written before. */
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
