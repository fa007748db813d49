/**
 * Keeps the messages of one direction in order within each session, so that a slow handler delays its own session only.
 *
 * 1. Messages of one session pass one after the other, in the order of arrival.
 * 2. Messages of different sessions do not wait for one another.
 * 3. A message of no session waits for everything that arrived before it. Nothing of a session waits for it.
 */
import { HARD_LIMIT } from "../client/buffer/limits.ts";
import { SizedQueue } from "../client/buffer/sized-queue.ts";

/** A session id, a symbol for a message that nothing else waits for, or undefined for a message of no session. */
export type Lane = string | symbol | undefined;

/**
 * Passes a message on. The returned promise blocks the lane; it must not throw or reject. `isFlushed` is true if the
 * message does not wait for the one before it.
 */
type PassMessage = (isFlushed: boolean) => unknown;

/** The messages behind the one that is being passed on. */
interface WaitingMessages {
  readonly queue: SizedQueue<PassMessage>;
  /** Resolves when everything in the queue has been passed on. Undefined if messages came after the last mark. */
  mark: Promise<void> | undefined;
}

/** Memory of a reference to a mark, in characters. */
const REFERENCE_SIZE = 8;
const NO_SESSION = Symbol("no session");

export class SessionLanes {
  /** The lanes in which a message is being passed on. */
  readonly #busy = new Map<string | symbol, WaitingMessages>();
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
    const waiting = this.#busy.get(lane);
    if (waiting === undefined) {
      this.#start(lane, pass);
      return undefined;
    }
    return this.#push(waiting, characters, pass);
  }

  /** Passes the queued messages of the session on at once, although the one before them is not done. */
  flush(sessionId: string): void {
    const waiting = this.#busy.get(sessionId);
    if (waiting === undefined) return;
    for (let pass = this.#shift(waiting); pass !== undefined; pass = this.#shift(waiting)) void pass(true);
  }

  #runAfterAll(characters: number, pass: PassMessage): Promise<unknown> | undefined {
    if (this.isIdle) {
      this.#start(NO_SESSION, pass);
      return undefined;
    }
    const own = this.#busy.get(NO_SESSION);
    const others = [...this.#busy].flatMap(([lane, waiting]) => (lane === NO_SESSION ? [] : [this.#mark(waiting)]));
    const passAfterOthers = async (): Promise<void> => {
      await Promise.all(others);
      await pass(false);
    };
    if (own !== undefined) return this.#push(own, characters + others.length * REFERENCE_SIZE, passAfterOthers);
    this.#start(NO_SESSION, passAfterOthers);
    return undefined;
  }

  #push(waiting: WaitingMessages, characters: number, pass: PassMessage): Promise<unknown> | undefined {
    this.#add(waiting, characters, pass);
    waiting.mark = undefined;
    return this.#size > HARD_LIMIT ? this.#mark(waiting) : undefined;
  }

  /** Messages of no session that follow one another share a mark. */
  #mark(waiting: WaitingMessages): Promise<void> {
    waiting.mark ??= new Promise((resolve) => {
      this.#add(waiting, 0, () => {
        waiting.mark = undefined; // a flush passes it on before the message at the front is done
        resolve();
      });
    });
    return waiting.mark;
  }

  #add({ queue }: WaitingMessages, characters: number, pass: PassMessage): void {
    const before = queue.size;
    queue.push(pass, characters);
    this.#size += queue.size - before;
  }

  #shift({ queue }: WaitingMessages): PassMessage | undefined {
    const entry = queue.shift();
    this.#size -= entry?.size ?? 0;
    return entry?.item;
  }

  #start(lane: string | symbol, pass: PassMessage): void {
    const done = pass(false);
    if (!(done instanceof Promise)) return;
    const waiting: WaitingMessages = { queue: new SizedQueue(), mark: undefined };
    this.#busy.set(lane, waiting);
    this.#continueAfter(done, lane, waiting);
  }

  #continueAfter(done: Promise<unknown>, lane: string | symbol, waiting: WaitingMessages): void {
    const next = (): void => this.#runNext(lane, waiting);
    done.then(next, next);
  }

  #runNext(lane: string | symbol, waiting: WaitingMessages): void {
    for (let pass = this.#shift(waiting); pass !== undefined; pass = this.#shift(waiting)) {
      const done = pass(false);
      if (done instanceof Promise) return this.#continueAfter(done, lane, waiting);
    }
    this.#busy.delete(lane);
  }
}
