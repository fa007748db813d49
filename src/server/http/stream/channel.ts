/** One log as many readers have it: those who stand at the same place share one reading of the store and one encoding. */
import type { PieceCache } from "./cache.ts";
import { encode, type Line, type Piece } from "./piece.ts";

/** Pages after the cursor, then what comes, until the signal ends it: quietly. */
export type Source = (after: number, signal: AbortSignal) => AsyncIterable<readonly Line[]>;

interface Waiter {
  resolve(piece: Piece | undefined): void;
  reject(error: unknown): void;
}

interface Flight {
  readonly waiters: Set<Waiter>;
  /** Ends what nobody waits for any more. */
  readonly vain: AbortController;
}

interface Reading {
  readonly pages: AsyncIterator<readonly Line[]>;
  readonly over: AbortController;
  cursor: number;
  busy: boolean;
}

export class Channel {
  readonly #name: string;
  readonly #source: Source;
  readonly #cache: PieceCache;
  readonly #over = new AbortController();
  /** What is being read or waited for, by where it begins. */
  readonly #flights = new Map<number, Flight>();
  /** Stays open where the foremost readers are; whoever is behind it opens one for each page. */
  #lead: Reading | undefined;
  #readers = 0;

  constructor(name: string, source: Source, cache: PieceCache) {
    this.#name = name;
    this.#source = source;
    this.#cache = cache;
  }

  join(): void {
    this.#readers += 1;
  }

  /** Is true when the last one left: nothing is read for it any more then. */
  leave(): boolean {
    this.#readers -= 1;
    if (this.#readers > 0) return false;
    this.#over.abort();
    this.#drop(this.#lead);
    this.#lead = undefined;
    return true;
  }

  /**
   * What comes after the cursor, once there is something. Undefined where the log ended or the signal fired, which
   * leaves nothing behind. Rejects as the store does.
   */
  next(after: number, signal: AbortSignal): Promise<Piece | undefined> | Piece {
    const kept = this.#cache.get(this.#name, after);
    if (kept !== undefined) return kept;
    const { waiters, vain } = this.#flights.get(after) ?? this.#depart(after);
    return new Promise((resolve, reject) => {
      const settle = (how: () => void): void => {
        signal.removeEventListener("abort", leave);
        waiters.delete(waiter);
        how();
      };
      const leave = (): void => {
        settle(() => resolve(undefined));
        if (waiters.size === 0) vain.abort();
      };
      const waiter: Waiter = {
        resolve: (piece) => settle(() => resolve(piece)),
        reject: (error) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
      };
      waiters.add(waiter);
      signal.addEventListener("abort", leave);
      if (signal.aborted) leave();
    });
  }

  #depart(after: number): Flight {
    const waiters = new Set<Waiter>();
    const flight: Flight = { waiters, vain: new AbortController() };
    this.#flights.set(after, flight);
    const land = (): unknown => this.#flights.get(after) === flight && this.#flights.delete(after);
    const arrive = (tell: (waiter: Waiter) => void): void => {
      land();
      for (const waiter of waiters) tell(waiter);
    };
    flight.vain.signal.addEventListener("abort", land);
    this.#read(after, flight.vain.signal).then(
      (piece) => arrive((waiter) => waiter.resolve(piece)),
      (error: unknown) => arrive((waiter) => waiter.reject(error)),
    );
    return flight;
  }

  async #read(after: number, vain: AbortSignal): Promise<Piece | undefined> {
    const lead = this.#leadAt(after);
    const reading = lead ?? this.#begin(after);
    reading.busy = true;
    const end = (): void => reading.over.abort();
    vain.addEventListener("abort", end);
    this.#over.signal.addEventListener("abort", end);
    try {
      const result = await reading.pages.next();
      if (result.done === true) {
        if (lead !== undefined) this.#lead = undefined;
        return undefined;
      }
      const pieces = encode(after, result.value);
      for (const piece of pieces) this.#cache.put(this.#name, piece);
      reading.cursor = pieces.at(-1)?.last ?? after;
      return pieces[0] ?? (await this.#read(after, vain));
    } catch (error) {
      if (lead !== undefined) this.#lead = undefined;
      throw error;
    } finally {
      reading.busy = false;
      vain.removeEventListener("abort", end);
      this.#over.signal.removeEventListener("abort", end);
      if (reading !== this.#lead) this.#drop(reading);
    }
  }

  /** The lead, if it stands there, or one that takes its place there because nobody is further. */
  #leadAt(after: number): Reading | undefined {
    const lead = this.#lead;
    if (lead !== undefined && (lead.busy || lead.cursor > after)) return undefined;
    if (lead?.cursor === after) return lead;
    this.#drop(lead);
    this.#lead = this.#begin(after);
    return this.#lead;
  }

  #begin(cursor: number): Reading {
    const over = new AbortController();
    return { pages: this.#source(cursor, over.signal)[Symbol.asyncIterator](), over, cursor, busy: false };
  }

  #drop(reading: Reading | undefined): void {
    reading?.pages.return?.().catch(() => undefined); // whoever waited for it was told
  }
}
