/**
 * Decides whether a slow reader may stop the connection. All sessions share one pipe, so a reader may stop it only
 * while nobody waits for a message behind the reader's own updates.
 */
import { deferred } from "../../../stdx/index.ts";

/** The session that waits. Undefined for a call that anybody may wait for, including the slow reader. */
type PendingWait = { readonly session: object | undefined };

interface PipeHold {
  /** True if the whole pipe is held, not just one message. */
  readonly pipe: boolean;
  readonly released: Promise<void>;
  readonly givesWayTo: (waiting: PendingWait) => boolean;
  readonly release: () => void;
}

export class Backpressure {
  readonly #waits = new Set<PendingWait>();
  /** Active holds. The key is the promise that a hold waits for. */
  readonly #holds = new Map<Promise<void>, PipeHold>();

  get isHeld(): boolean {
    return [...this.#holds.values()].some(({ pipe }) => pipe);
  }

  /**
   * Registers a turn or a session setup, whose answer follows its own updates. Returns a function that ends the wait.
   */
  startWait(session: object): () => void {
    return this.#addWait({ session });
  }

  /** Registers any other request until it settles. */
  async waitForCall<T>(ask: () => Promise<T>): Promise<T> {
    const end = this.#addWait({ session: undefined });
    try {
      return await ask();
    } finally {
      end();
    }
  }

  /** Stops the pipe until there is room. Undefined if someone else waits; released as soon as someone does. */
  holdPipe(session: object, room: Promise<void>): Promise<void> | undefined {
    return this.#hold(true, room, (waiting) => waiting.session !== session);
  }

  /** Waits for `first`, except while a call is pending: `first` may depend on that call. */
  waitBehind(first: Promise<void>): Promise<void> | undefined {
    return this.#hold(false, first, (waiting) => waiting.session === undefined);
  }

  #addWait(waiting: PendingWait): () => void {
    this.#waits.add(waiting);
    for (const { givesWayTo, release } of [...this.#holds.values()]) if (givesWayTo(waiting)) release();
    return () => void this.#waits.delete(waiting);
  }

  #hold(pipe: boolean, until: Promise<void>, givesWayTo: PipeHold["givesWayTo"]): Promise<void> | undefined {
    for (const waiting of this.#waits) if (givesWayTo(waiting)) return undefined;
    const known = this.#holds.get(until);
    if (known !== undefined) return known.released;
    const released = deferred();
    const release = (): void => {
      this.#holds.delete(until);
      released.resolve();
    };
    this.#holds.set(until, { pipe, givesWayTo, released: released.promise, release });
    void until.then(release);
    return released.promise;
  }
}
