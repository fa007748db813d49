/**
 * Keeps the messages of one direction in order within each session, so that a slow handler delays its own session only.
 *
 * 1. Messages of one session pass one after the other, in the order of arrival.
 * 2. Messages of different sessions do not wait for one another.
 * 3. A message of no session waits for everything that arrived before it. Nothing of a session waits for it.
 */
import { HARD_LIMIT } from "../client/buffer/limits.ts";

/** A session id, a symbol for a message that nothing else waits for, or undefined for a message of no session. */
export type Lane = string | symbol | undefined;

/**
 * Passes a message on. The returned promise blocks the lane; it must not throw or reject. `isFlushed` is true if the
 * message does not wait for the one before it.
 */
type PassMessage = (isFlushed: boolean) => unknown;

interface QueuedMessage {
  readonly pass: PassMessage;
  readonly size: number;
}

/** Memory of an entry besides its text, in characters. */
const ENTRY_OVERHEAD = 256;
const NO_SESSION = Symbol("no session");

export class SessionLanes {
  /** The lanes in which a message is being passed on, with the messages behind it. */
  readonly #busy = new Map<string | symbol, QueuedMessage[]>();
  #size = 0;

  get isIdle(): boolean {
    return this.#busy.size === 0;
  }

  /** True if a message of this lane would have to wait. */
  isBusy(lane: Lane): boolean {
    return lane === undefined ? !this.isIdle : this.#busy.has(lane);
  }

  /**
   * Passes a message on: at once if its lane is free, otherwise after those before it. Returns what the connection has
   * to wait for if more than 64 MiB are queued.
   */
  run(lane: Lane, characters: number, pass: PassMessage): Promise<unknown> | undefined {
    if (lane === undefined) return this.#runAfterAll(characters, pass);
    const queue = this.#busy.get(lane);
    if (queue === undefined) {
      this.#start(lane, pass);
      return undefined;
    }
    return this.#push(queue, characters, pass);
  }

  /** Passes the queued messages of the session on at once, although the one before them is not done. */
  flush(sessionId: string): void {
    const queue = this.#busy.get(sessionId);
    for (let next = queue?.shift(); next !== undefined; next = queue?.shift()) {
      this.#size -= next.size;
      void next.pass(true);
    }
  }

  #runAfterAll(characters: number, pass: PassMessage): Promise<unknown> | undefined {
    if (this.isIdle) {
      this.#start(NO_SESSION, pass);
      return undefined;
    }
    const queue = this.#busy.get(NO_SESSION);
    const others = [...this.#busy].flatMap(([lane, waiting]) => (lane === NO_SESSION ? [] : [addMark(waiting)]));
    const passAfterOthers = async (): Promise<void> => {
      await Promise.all(others);
      await pass(false);
    };
    if (queue !== undefined) return this.#push(queue, characters, passAfterOthers);
    this.#start(NO_SESSION, passAfterOthers);
    return undefined;
  }

  #push(queue: QueuedMessage[], characters: number, pass: PassMessage): Promise<unknown> | undefined {
    const size = characters + ENTRY_OVERHEAD;
    this.#size += size;
    queue.push({ pass, size });
    return this.#size > HARD_LIMIT ? addMark(queue) : undefined;
  }

  #start(lane: string | symbol, pass: PassMessage): void {
    const done = pass(false);
    if (!(done instanceof Promise)) return;
    const queue: QueuedMessage[] = [];
    this.#busy.set(lane, queue);
    this.#continueAfter(done, lane, queue);
  }

  #continueAfter(done: Promise<unknown>, lane: string | symbol, queue: QueuedMessage[]): void {
    const next = (): void => this.#runNext(lane, queue);
    done.then(next, next);
  }

  #runNext(lane: string | symbol, queue: QueuedMessage[]): void {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      this.#size -= next.size;
      const done = next.pass(false);
      if (done instanceof Promise) return this.#continueAfter(done, lane, queue);
    }
    this.#busy.delete(lane);
  }
}

/** Resolves when everything in the queue has been passed on. */
function addMark(queue: QueuedMessage[]): Promise<void> {
  return new Promise((resolve) => queue.push({ pass: () => resolve(), size: 0 }));
}
