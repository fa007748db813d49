/** Every open stream of the door: written as fast as its reader takes it, kept awake, and ended with the door. */
import type { ServerResponse } from "node:http";
import { isRookeryError } from "../../../domain/index.ts";
import { CONNECTION_LIMITS } from "../../../stdx/index.ts";
import { problemOf } from "../problem.ts";
import { PieceCache } from "./cache.ts";
import { Channel, type Source } from "./channel.ts";

/** Comments that keep a connection from looking dead. */
export const HEARTBEAT_MS = 15_000;
/** Streams last for hours: a quarter of the connections is left for requests that are answered at once. */
export const MAX_STREAMS = (CONNECTION_LIMITS.authenticated * 3) / 4;
const RETRY_MS = 1_000;
/** In bytes: of what came a moment ago there is less. */
const LARGE = 16 * 1024;

export interface StreamOptions {
  /** Streams of the same name are the same log. */
  readonly name: string;
  readonly after: number;
  readonly source: Source;
}

export class Streams {
  readonly #channels = new Map<string, Channel>();
  readonly #cache = new PieceCache();
  readonly #open = new Map<ServerResponse, AbortController>();
  readonly #heart: NodeJS.Timeout;
  sentEvents = 0;
  sentBytes = 0;

  constructor(heartbeatMs: number = HEARTBEAT_MS) {
    this.#heart = setInterval(() => this.#beat(), heartbeatMs).unref();
  }

  get count(): number {
    return this.#open.size;
  }

  /** How many logs are being followed for them. */
  get channels(): number {
    return this.#channels.size;
  }

  /** Resolves when the reader left, the log ended, or the door closes; never rejects. */
  async send(response: ServerResponse, { name, after, source }: StreamOptions): Promise<void> {
    const over = new AbortController();
    const left = (): void => over.abort();
    response.once("close", left);
    response.once("error", left); // a connection that was reset
    this.#open.set(response, over);
    const channel = this.#join(name, source);
    try {
      response.writeHead(200, HEAD);
      response.write(`retry: ${RETRY_MS}\n\n`);
      await this.#pump(response, channel, after, over.signal);
      if (!response.destroyed) response.write(": the server closes\n\n");
    } catch (error) {
      response.write(lastWords(error));
    } finally {
      this.#leave(name, channel);
      this.#open.delete(response);
      response.off("close", left);
      if (response.writableNeedDrain)
        response.destroy(); // it would be waited for; what it lacks, it finds in the log
      else response.end();
    }
  }

  /** What was deleted is not shown to those who come later. */
  forget(): void {
    this.#cache.clear();
  }

  close(): void {
    clearInterval(this.#heart);
    for (const over of this.#open.values()) over.abort();
  }

  /** A write that does not fit is waited for: so a reader that stalls holds one piece, and no more is read for it. */
  async #pump(response: ServerResponse, channel: Channel, after: number, signal: AbortSignal): Promise<void> {
    for (let cursor = after; !signal.aborted;) {
      const next = channel.next(cursor, signal);
      const piece = next instanceof Promise ? await next : next;
      if (piece === undefined) break;
      cursor = piece.last;
      this.sentEvents += piece.count;
      this.sentBytes += piece.bytes.length;
      if (!response.write(piece.bytes)) await drained(response, signal);
      if (piece.bytes.length >= LARGE) await others();
    }
  }

  #join(name: string, source: Source): Channel {
    const channel = this.#channels.get(name) ?? new Channel(name, source, this.#cache);
    this.#channels.set(name, channel);
    channel.join();
    return channel;
  }

  #leave(name: string, channel: Channel): void {
    if (!channel.leave()) return;
    this.#channels.delete(name);
    if (this.#channels.size === 0) this.#cache.clear();
  }

  /** One that does not take what it was sent is not sent more. */
  #beat(): void {
    for (const response of this.#open.keys()) if (!response.writableNeedDrain) response.write(":\n\n");
  }
}

const HEAD = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

/** The log is gone, or cannot be read: a client that comes again would be told the same. */
function lastWords(error: unknown): string {
  const gone = isRookeryError(error, "session_not_found") || isRookeryError(error, "task_not_found");
  return `event: ${gone ? "gone" : "failed"}\ndata: ${JSON.stringify(problemOf(error))}\n\n`;
}

/** As long as a connection takes all at once, a drain comes before anything else does: nobody else would be heard. */
function others(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    if (signal.aborted || response.destroyed) return resolve();
    response.once("drain", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
