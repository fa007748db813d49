/** Handles incoming entries one at a time. An entry can hold the queue, so that later ones wait. */

/** The next entry waits until it is released. */
interface InboxHold {
  /** True if a handler made it. A handler may call the peer and must then not block the answer. */
  readonly byHandler: boolean;
}

export class Inbox<Entry extends { readonly size: number }> {
  readonly #handle: (entry: Entry) => Promise<unknown> | undefined;
  readonly #changed: () => void;
  #entries: (Entry | undefined)[] = [];
  #next = 0;
  #size = 0;
  #hold: InboxHold | undefined;
  #running = false;
  /**
   * Number of requests made within a hold whose answers are pending. Holds are short meanwhile, because the answer may
   * be behind the next entry.
   */
  #urgent = 0;

  /** `handle` returns what the next entry waits for. `changed` is called after entries were handled. */
  constructor(handle: (entry: Entry) => Promise<unknown> | undefined, changed: () => void) {
    this.#handle = handle;
    this.#changed = changed;
  }

  /** The size of the waiting messages, in characters. */
  get size(): number {
    return this.#size;
  }

  get idle(): boolean {
    return this.#next === this.#entries.length && this.#hold === undefined && !this.#running;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    this.#size += entry.size;
    this.#run();
  }

  waiting(): readonly Entry[] {
    return this.#entries.slice(this.#next).filter((entry) => entry !== undefined);
  }

  /**
   * A handler that calls the peer waits for an answer behind the messages that it blocks, so its hold is released.
   * Returns a function to call when the answer is there.
   */
  releaseForRequest(): (() => void) | undefined {
    const hold = this.#hold;
    if (!this.#running && hold?.byHandler !== true) return undefined;
    this.#urgent += 1;
    if (hold !== undefined) this.#release(hold);
    return () => {
      this.#urgent -= 1;
    };
  }

  /** Lets the receiver of an answer continue before the next entry is handled. */
  yield(): void {
    this.#holdFor(new Promise((resolve) => setImmediate(resolve)), false);
  }

  #run(): void {
    if (this.#running || this.#hold !== undefined) return;
    this.#running = true;
    while (this.#hold === undefined) {
      const entry = this.#entries[this.#next];
      if (entry === undefined) break;
      this.#entries[this.#next] = undefined; // frees the entry while others wait
      this.#next += 1;
      this.#size -= entry.size;
      this.#compact();
      const until = this.#handle(entry);
      if (until !== undefined) this.#holdFor(until, true);
    }
    this.#running = false;
    this.#changed();
  }

  #holdFor(until: Promise<unknown>, byHandler: boolean): void {
    const hold: InboxHold = { byHandler };
    this.#hold = hold;
    const done = (): void => this.#release(hold);
    if (byHandler && this.#urgent > 0) setImmediate(done);
    until.then(done, done);
  }

  #release(hold: InboxHold): void {
    if (this.#hold !== hold) return;
    this.#hold = undefined;
    queueMicrotask(() => this.#run());
  }

  #compact(): void {
    if (this.#next < this.#entries.length) {
      if (this.#next < 1024) return;
      this.#entries = this.#entries.slice(this.#next);
    } else {
      this.#entries = [];
    }
    this.#next = 0;
  }
}
