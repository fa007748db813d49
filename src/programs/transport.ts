/** What a connection stands on: lines in, lines out, on byte streams or within the process. */
import { Readable, Writable } from "node:stream";
import type { ReadableStream, WritableStream } from "node:stream/web";
import { LineSplitter, type LineSink } from "./lines.ts";

export interface Transport {
  /** Called once. */
  start(sink: TransportSink): void;
  /** Stops what comes in, soon; what was read already still arrives. */
  pause(): void;
  resume(): void;
  /** How many bytes came in so far, whole lines or not; left out where there are none. */
  received?(): number;
  /** Takes whole lines, each with its newline. False: it is full, and `drained` will be called. */
  write(text: string): boolean;
  /** No more will be written; resolves when what was written has gone, or cannot go. */
  end(): Promise<void>;
  /** Stops both ways at once. */
  destroy(): void;
}

export interface TransportSink extends LineSink {
  /** Nothing more comes in; `error` says why where the stream broke. */
  ended(error?: Error): void;
  drained(): void;
  /** What is written goes nowhere any more. */
  writeFailed(error: Error): void;
}

/** As in the official SDK, so that what one takes the other takes. */
export const DEFAULT_MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

export interface StreamTransportOptions {
  /** A longer message is passed over, and fails the one request that it belongs to. */
  readonly maxMessageBytes?: number | undefined;
  /** Lines with nothing on them are told too. */
  readonly emptyLines?: boolean | undefined;
}

/** On any pair of byte streams, of Node or of the web. */
export function streamTransport(
  input: Readable | ReadableStream<Uint8Array>,
  output: Writable | WritableStream<Uint8Array>,
  { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES, emptyLines }: StreamTransportOptions = {},
): Transport {
  const reads = input instanceof Readable ? input : Readable.fromWeb(input);
  const writes = output instanceof Writable ? output : Writable.fromWeb(output);
  let received = 0;
  return {
    start(sink) {
      const splitter = new LineSplitter(sink, { maxBytes: maxMessageBytes, emptyLines });
      let over = false;
      const ended = (error?: Error): void => {
        if (over) return;
        over = true;
        splitter.end();
        sink.ended(error);
      };
      reads.on("data", (chunk: Buffer | string) => {
        received += chunk.length;
        splitter.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
      });
      reads.once("end", () => ended());
      reads.once("error", ended);
      reads.once("close", () => ended());
      if (reads.destroyed || reads.readableEnded) setImmediate(ended, reads.errored ?? undefined); // it told others already
      writes.on("drain", () => sink.drained());
      writes.on("error", (error) => sink.writeFailed(error));
      writes.once("close", () => {
        if (!writes.writableFinished) sink.writeFailed(new Error("the stream was closed"));
      });
    },
    pause: () => void reads.pause(),
    resume: () => void reads.resume(),
    received: () => received,
    write: (text) => writes.write(text),
    end: () =>
      new Promise((resolve) => {
        if (writes.destroyed || writes.writableFinished) return resolve();
        writes.once("close", resolve).once("error", () => resolve());
        writes.end(() => resolve());
      }),
    destroy() {
      reads.destroy();
      if (!writes.writableFinished) writes.destroy(); // the reader of a stream within the process may not have it all yet
    },
  };
}

/** Two ends within the process: what is written at one is read at the other, later and in order. */
export function transportPair(): [Transport, Transport] {
  const [left, right] = [new End(), new End()];
  left.other = right;
  right.other = left;
  return [left, right];
}

/** How often something is passed on within the process before the rest of the world gets its turn. */
const PASSES = 64;
let passes = 0;

/** Later, and before anything else happens; but two who answer each other without end keep nobody out. */
function soon(work: () => void): void {
  if (passes === 0) {
    setImmediate(() => {
      passes = 0;
    });
  }
  passes += 1;
  if (passes > PASSES) setImmediate(work);
  else queueMicrotask(work);
}

/** Unread text at which a writer is asked to wait. */
const HIGH_WATER = 64 * 1024;

class End implements Transport {
  other!: End;
  #sink: TransportSink | undefined;
  #unread: string[] = [];
  #size = 0;
  #paused = false;
  #scheduled = false;
  #inputEnded = false;
  #told = false;
  #full = false;

  start(sink: TransportSink): void {
    this.#sink = sink;
    this.#schedule();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  write(text: string): boolean {
    return this.other.#take(text);
  }

  end(): Promise<void> {
    this.other.#end();
    return Promise.resolve();
  }

  destroy(): void {
    this.#unread = [];
    this.#size = 0;
    this.#end();
    this.other.#end();
    this.other.#sink?.writeFailed(new Error("the other end is closed"));
  }

  #take(text: string): boolean {
    if (this.#inputEnded) return true; // nobody reads it any more, as with a closed pipe
    this.#unread.push(text);
    this.#size += text.length;
    this.#schedule();
    this.#full = this.#size >= HIGH_WATER;
    return !this.#full;
  }

  #end(): void {
    this.#inputEnded = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#sink === undefined) return;
    this.#scheduled = true;
    soon(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const sink = this.#sink;
    if (sink === undefined) return;
    while (!this.#paused) {
      const text = this.#unread.shift();
      if (text === undefined) break;
      this.#size -= text.length;
      for (const line of text.split("\n")) if (line !== "") sink.line(line);
    }
    if (this.#full && this.#size < HIGH_WATER) {
      this.#full = false;
      this.other.#sink?.drained();
    }
    if (this.#inputEnded && this.#unread.length === 0 && !this.#told) {
      this.#told = true;
      sink.ended();
    }
  }
}
