/** Serves one log to many readers. Readers at the same position share one store read and one encoding. */
import type { PieceCache } from "./cache.ts";
import { encodePieces, type EventLine, type StreamPiece } from "./piece.ts";

/** Yields the pages after the cursor, then new events as they arrive. Ends without an error when the signal aborts. */
export type LogSource = (after: number, signal: AbortSignal) => AsyncIterable<readonly EventLine[]>;

interface PieceWaiter {
  resolve(piece: StreamPiece | undefined): void;
  reject(error: unknown): void;
}

interface PendingRead {
  readonly waiters: Set<PieceWaiter>;
  /** Aborts the read when its last waiter leaves. */
  readonly abandoned: AbortController;
}

interface OpenReader {
  readonly pages: AsyncIterator<readonly EventLine[]>;
  readonly controller: AbortController;
  cursor: number;
  busy: boolean;
}

export class LogChannel {
  readonly #name: string;
  readonly #source: LogSource;
  readonly #cache: PieceCache;
  readonly #closed = new AbortController();
  /** Running reads, by their start position. */
  readonly #pending = new Map<number, PendingRead>();
  /** The open reader at the front of the log. Readers behind it open a new one for each page. */
  #frontReader: OpenReader | undefined;
  #readers = 0;

  constructor(name: string, source: LogSource, cache: PieceCache) {
    this.#name = name;
    this.#source = source;
    this.#cache = cache;
  }

  join(): void {
    this.#readers += 1;
  }

  /** Returns true when the last reader has left. The channel then stops reading. */
  leave(): boolean {
    this.#readers -= 1;
    if (this.#readers > 0) return false;
    this.#closed.abort();
    this.#closeReader(this.#frontReader);
    this.#frontReader = undefined;
    return true;
  }

  /**
   * Resolves with the next piece after the cursor, as soon as there is one. Resolves with undefined if the log ends or
   * the signal aborts. Rejects with the errors of the store.
   */
  next(after: number, signal: AbortSignal): Promise<StreamPiece | undefined> | StreamPiece {
    const kept = this.#cache.get(this.#name, after);
    if (kept !== undefined) return kept;
    const { waiters, abandoned } = this.#pending.get(after) ?? this.#startRead(after);
    return new Promise((resolve, reject) => {
      const settle = (complete: () => void): void => {
        signal.removeEventListener("abort", leave);
        waiters.delete(waiter);
        complete();
      };
      const leave = (): void => {
        settle(() => resolve(undefined));
        if (waiters.size === 0) abandoned.abort();
      };
      const waiter: PieceWaiter = {
        resolve: (piece) => settle(() => resolve(piece)),
        reject: (error) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
      };
      waiters.add(waiter);
      signal.addEventListener("abort", leave);
      if (signal.aborted) leave();
    });
  }

  #startRead(after: number): PendingRead {
    const waiters = new Set<PieceWaiter>();
    const pending: PendingRead = { waiters, abandoned: new AbortController() };
    this.#pending.set(after, pending);
    const remove = (): unknown => this.#pending.get(after) === pending && this.#pending.delete(after);
    const settleAll = (notify: (waiter: PieceWaiter) => void): void => {
      remove();
      for (const waiter of waiters) notify(waiter);
    };
    pending.abandoned.signal.addEventListener("abort", remove);
    this.#read(after, pending.abandoned.signal).then(
      (piece) => settleAll((waiter) => waiter.resolve(piece)),
      (error: unknown) => settleAll((waiter) => waiter.reject(error)),
    );
    return pending;
  }

  async #read(after: number, abandoned: AbortSignal): Promise<StreamPiece | undefined> {
    const front = this.#frontReaderAt(after);
    const reader = front ?? this.#openReader(after);
    reader.busy = true;
    const end = (): void => reader.controller.abort();
    abandoned.addEventListener("abort", end);
    this.#closed.signal.addEventListener("abort", end);
    try {
      const result = await reader.pages.next();
      if (result.done === true) {
        if (front !== undefined) this.#frontReader = undefined;
        return undefined;
      }
      const pieces = encodePieces(after, result.value);
      for (const piece of pieces) this.#cache.put(this.#name, piece);
      reader.cursor = pieces.at(-1)?.last ?? after;
      return pieces[0] ?? (await this.#read(after, abandoned));
    } catch (error) {
      if (front !== undefined) this.#frontReader = undefined;
      throw error;
    } finally {
      reader.busy = false;
      abandoned.removeEventListener("abort", end);
      this.#closed.signal.removeEventListener("abort", end);
      if (reader !== this.#frontReader) this.#closeReader(reader);
    }
  }

  /** The front reader if it is at this position, or a new front reader if the current one is behind it. */
  #frontReaderAt(after: number): OpenReader | undefined {
    const front = this.#frontReader;
    if (front !== undefined && (front.busy || front.cursor > after)) return undefined;
    if (front?.cursor === after) return front;
    this.#closeReader(front);
    this.#frontReader = this.#openReader(after);
    return this.#frontReader;
  }

  #openReader(cursor: number): OpenReader {
    const controller = new AbortController();
    return { pages: this.#source(cursor, controller.signal)[Symbol.asyncIterator](), controller, cursor, busy: false };
  }

  #closeReader(reader: OpenReader | undefined): void {
    reader?.pages.return?.().catch(() => undefined); // its waiters have already received the error
  }
}
