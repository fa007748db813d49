/**
 * Who waits for the agent. All sessions come through one pipe: whoever is behind with reading may stop it only while
 * nobody else waits for what comes behind his own updates.
 */
import { deferred } from "../../../stdx/index.ts";

/** Whose it is; undefined of a call that anybody may wait for, also the reader who is behind. */
type PendingWait = { readonly session: object | undefined };

interface PipeHold {
  /** It is the pipe that is held, and not one thing that came through it. */
  readonly pipe: boolean;
  readonly released: Promise<void>;
  readonly givesWayTo: (waiting: PendingWait) => boolean;
  readonly release: () => void;
}

export class Backpressure {
  readonly #waiting = new Set<PendingWait>();
  /** By what they wait for. */
  readonly #held = new Map<Promise<void>, PipeHold>();

  get isHeld(): boolean {
    return [...this.#held.values()].some(({ pipe }) => pipe);
  }

  /** A turn or a set-up, whose answer comes behind its own updates. Returns what ends it. */
  startWait(session: object): () => void {
    return this.#begin({ session });
  }

  /** Any other request. */
  async waitForCall<T>(ask: () => Promise<T>): Promise<T> {
    const end = this.#begin({ session: undefined });
    try {
      return await ask();
    } finally {
      end();
    }
  }

  /** Stops the pipe until there is room again. Undefined where someone else waits; released once someone does. */
  holdPipe(session: object, room: Promise<void>): Promise<void> | undefined {
    return this.#hold(true, room, (waiting) => waiting.session !== session);
  }

  /** What has to be done first; a call may be what it waits for itself, so it is not waited for then. */
  waitBehind(first: Promise<void>): Promise<void> | undefined {
    return this.#hold(false, first, (waiting) => waiting.session === undefined);
  }

  #begin(waiting: PendingWait): () => void {
    this.#waiting.add(waiting);
    for (const { givesWayTo, release } of [...this.#held.values()]) if (givesWayTo(waiting)) release();
    return () => void this.#waiting.delete(waiting);
  }

  #hold(pipe: boolean, until: Promise<void>, givesWayTo: PipeHold["givesWayTo"]): Promise<void> | undefined {
    for (const waiting of this.#waiting) if (givesWayTo(waiting)) return undefined;
    const known = this.#held.get(until);
    if (known !== undefined) return known.released;
    const released = deferred();
    const release = (): void => {
      this.#held.delete(until);
      released.resolve();
    };
    this.#held.set(until, { pipe, givesWayTo, released: released.promise, release });
    void until.then(release);
    return released.promise;
  }
}
