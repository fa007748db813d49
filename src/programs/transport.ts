/** Line transports over byte streams or within the process. */
import { Readable, Writable } from "node:stream";
import type { ReadableStream, WritableStream } from "node:stream/web";
import { LineSplitter, type LineSink } from "./line-splitter.ts";

export interface Transport {
  /** Starts delivery. Call once. */
  start(sink: TransportSink): void;
  /** Pauses the input soon; data that was already read still arrives. */
  pause(): void;
  resume(): void;
  /** Returns the number of bytes received so far. Missing if the transport has no bytes. */
  received?(): number;
  /** Accepts whole lines with newlines. Returns false if the buffer is full; `drained` follows. */
  write(text: string): boolean;
  /** Ends the output. Resolves when everything is written or cannot be written. */
  end(): Promise<void>;
  /** Closes both directions immediately. */
  destroy(): void;
}

export interface TransportSink extends LineSink {
  /** The input has ended; `error` is set if the stream broke. */
  ended(error?: Error): void;
  drained(): void;
  /** Writing is no longer possible. */
  writeFailed(error: Error): void;
}

/** The limit of the official SDK. */
export const DEFAULT_MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

export interface StreamTransportOptions {
  /** Longer messages are dropped, which fails the request they belong to. Default: 32 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Whether empty lines are delivered. Default: false. */
  readonly emptyLines?: boolean | undefined;
}

/** Creates a transport over a pair of byte streams, of Node or of the web. */
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
      let hasEnded = false;
      const ended = (error?: Error): void => {
        if (hasEnded) return;
        hasEnded = true;
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
      if (reads.destroyed || reads.readableEnded) setImmediate(ended, reads.errored ?? undefined); // its events are in the past
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
      if (!writes.writableFinished) writes.destroy(); // an in-process reader may not have read everything yet
    },
  };
}

/** Creates two connected transports: each delivers what the other writes, asynchronously and in order. */
export function transportPair(): [Transport, Transport] {
  const [left, right] = [new PairEnd(), new PairEnd()];
  left.other = right;
  right.other = left;
  return [left, right];
}

/** In-process deliveries before the event loop gets a turn. */
const MAX_DELIVERIES = 64;
let deliveries = 0;

/** Runs the work as a microtask, but yields to the event loop when two peers answer each other endlessly. */
function runSoon(work: () => void): void {
  if (deliveries === 0) {
    setImmediate(() => {
      deliveries = 0;
    });
  }
  deliveries += 1;
  if (deliveries > MAX_DELIVERIES) setImmediate(work);
  else queueMicrotask(work);
}

/** Amount of unread text at which `write` returns false. */
const HIGH_WATER = 64 * 1024;

class PairEnd implements Transport {
  other!: PairEnd;
  #sink: TransportSink | undefined;
  #unread: string[] = [];
  #size = 0;
  #paused = false;
  #scheduled = false;
  #inputEnded = false;
  #endDelivered = false;
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
    if (this.#inputEnded) return true; // dropped, as with a closed pipe
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
    runSoon(() => {
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
    if (this.#inputEnded && this.#unread.length === 0 && !this.#endDelivered) {
      this.#endDelivered = true;
      sink.ended();
    }
  }
}
