/** All open event streams: writes with backpressure, sends heartbeats, and ends the streams when the server closes. */
import type { ServerResponse } from "node:http";
import { isRookeryError, type Store } from "../../../domain/index.ts";
import { CONNECTION_LIMITS } from "../../../stdx/index.ts";
import { toProblem } from "../problem.ts";
import { PieceCache } from "./cache.ts";
import { LogChannel, type LogSource } from "./channel.ts";
import { DeletionWatch } from "./deletion-watch.ts";

/** Streams last for hours, so a quarter of the connections is reserved for short requests. */
export const MAX_STREAMS = (CONNECTION_LIMITS.authenticated * 3) / 4;
const RETRY_MS = 1_000;
const DELETION = "session.deleted";
/** Larger pieces are history. Live events make smaller ones. */
const LARGE_PIECE_BYTES = 16 * 1024;

export interface StreamOptions {
  /** Streams with the same name read the same log. */
  readonly name: string;
  readonly after: number;
  readonly source: LogSource;
  /** Sends `session.deleted` messages too. Default: false. */
  readonly deletions?: boolean | undefined;
}

export interface StreamTimes {
  /** Milliseconds between two comments that keep idle connections alive. */
  readonly heartbeatMs: number;
  /** Milliseconds between two searches for sessions that another process deleted. */
  readonly deletionCheckMs: number;
}

export class Streams {
  /** Finds deletions by other processes while a stream with `deletions` is open. */
  readonly deletionWatch: DeletionWatch;
  readonly #channels = new Map<string, LogChannel>();
  readonly #cache = new PieceCache();
  readonly #open = new Map<ServerResponse, AbortController>();
  /** Readers that get `session.deleted` messages. */
  readonly #deletionReaders = new Set<ServerResponse>();
  readonly #heartbeatTimer: NodeJS.Timeout;
  sentEvents = 0;
  sentBytes = 0;

  constructor(store: Store, { heartbeatMs, deletionCheckMs }: StreamTimes) {
    this.#heartbeatTimer = setInterval(() => this.#sendHeartbeats(), heartbeatMs).unref();
    const onDeleted = (sessionId: string): void => this.announceDeletion(sessionId);
    this.deletionWatch = new DeletionWatch({ store, intervalMs: deletionCheckMs, onDeleted });
  }

  get count(): number {
    return this.#open.size;
  }

  /** Number of logs that open streams read. */
  get channels(): number {
    return this.#channels.size;
  }

  /** Resolves when the client disconnects, the log ends or the server closes. Never rejects. */
  async send(response: ServerResponse, { name, after, source, deletions = false }: StreamOptions): Promise<void> {
    const controller = new AbortController();
    const onDisconnect = (): void => controller.abort();
    response.once("close", onDisconnect);
    response.once("error", onDisconnect); // a reset connection
    this.#open.set(response, controller);
    const endWatch = deletions ? this.deletionWatch.watch() : undefined;
    if (deletions) this.#deletionReaders.add(response);
    const channel = this.#join(name, source);
    try {
      response.writeHead(200, HEAD);
      response.write(`retry: ${RETRY_MS}\n\n`);
      await this.#writePieces(response, channel, after, controller.signal);
      if (!response.destroyed) response.write(": the server is shutting down\n\n");
    } catch (error) {
      response.write(formatFinalEvent(error));
    } finally {
      this.#leave(name, channel);
      this.#open.delete(response);
      this.#deletionReaders.delete(response);
      endWatch?.();
      response.off("close", onDisconnect);
      if (response.writableNeedDrain)
        response.destroy(); // end() would wait for a slow reader, which can resume from the log
      else response.end();
    }
  }

  /** Clears the cache. Call this after a task is removed. */
  forget(): void {
    this.#cache.clear();
  }

  /**
   * Clears the cache, and sends the message to the readers that asked for it. It is in no log and has no id, so a reader
   * whose buffer is full is disconnected: it reconnects, and knows that it may have missed a deletion.
   */
  announceDeletion(sessionId: string): void {
    this.forget();
    if (!this.deletionWatch.markAnnounced(sessionId)) return;
    const message = `event: ${DELETION}\ndata: ${JSON.stringify({ sessionId })}\n\n`;
    for (const response of this.#deletionReaders) {
      if (response.writableNeedDrain) this.#open.get(response)?.abort();
      else if (response.headersSent) response.write(message);
    }
  }

  close(): void {
    clearInterval(this.#heartbeatTimer);
    this.deletionWatch.close();
    for (const controller of this.#open.values()) controller.abort();
  }

  /** Waits for a full write buffer to drain, so a stalled reader holds one piece and causes no further reads. */
  async #writePieces(response: ServerResponse, channel: LogChannel, after: number, signal: AbortSignal): Promise<void> {
    for (let cursor = after; !signal.aborted;) {
      const next = channel.next(cursor, signal);
      const piece = next instanceof Promise ? await next : next;
      if (piece === undefined) break;
      cursor = piece.last;
      this.sentEvents += piece.count;
      this.sentBytes += piece.bytes.length;
      if (!response.write(piece.bytes)) await waitForDrain(response, signal);
      if (piece.bytes.length >= LARGE_PIECE_BYTES) await yieldToLoop();
    }
  }

  #join(name: string, source: LogSource): LogChannel {
    const channel = this.#channels.get(name) ?? new LogChannel(name, source, this.#cache);
    this.#channels.set(name, channel);
    channel.join();
    return channel;
  }

  #leave(name: string, channel: LogChannel): void {
    if (!channel.leave()) return;
    this.#channels.delete(name);
    if (this.#channels.size === 0) this.#cache.clear();
  }

  /** Skips readers whose write buffer is full. */
  #sendHeartbeats(): void {
    for (const response of this.#open.keys()) if (!response.writableNeedDrain) response.write(":\n\n");
  }
}

const HEAD = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

/** The last event of a stream whose log is deleted or unreadable. Reconnecting would fail the same way. */
function formatFinalEvent(error: unknown): string {
  const gone = isRookeryError(error, "session_not_found") || isRookeryError(error, "task_not_found");
  return `event: ${gone ? "gone" : "failed"}\ndata: ${JSON.stringify(toProblem(error))}\n\n`;
}

/** A fast connection drains before other events are processed, so a long log would block the event loop. */
function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function waitForDrain(response: ServerResponse, signal: AbortSignal): Promise<void> {
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
