/** Passes items to a handler in order, one at a time, and none before it is opened. */
import { deferred, type Deferred } from "../../../stdx/index.ts";
import type { UpdateItem } from "../session-items.ts";
import { HARD_LIMIT, SOFT_LIMIT, unreadLimitError } from "./limits.ts";
import { SizedQueue } from "./sized-queue.ts";

export type UpdateHandler = (item: UpdateItem) => void | Promise<void>;

/** Marks a position in the queue that someone waits for. */
type Mark = () => void;

export class OrderedDelivery<Item extends { readonly line: string } = UpdateItem> {
  readonly #handler: (item: Item) => void | Promise<void>;
  /** Called once; nothing is delivered afterwards. */
  readonly #failed: (error: unknown) => void;
  readonly #queue = new SizedQueue<Item | Mark>();
  #open = false;
  #busy = false;
  #stopped = false;
  #room: Deferred<void> | undefined;

  constructor(handler: (item: Item) => void | Promise<void>, failed: (error: unknown) => void) {
    this.#handler = handler;
    this.#failed = failed;
  }

  open(): void {
    this.#open = true;
    this.#run();
  }

  push(item: Item): void {
    if (this.#stopped) return;
    if (this.#open && !this.#busy && this.#queue.first === undefined) return this.#deliver(item);
    this.#queue.push(item, item.line.length);
    if (this.#queue.size > HARD_LIMIT) this.#fail(unreadLimitError(HARD_LIMIT));
  }

  /** What the agent has to wait for. Undefined if there is room or the delivery is not open yet. */
  get room(): Promise<void> | undefined {
    if (!this.#open || this.#queue.size <= SOFT_LIMIT) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  /**
   * Resolves when everything pushed so far is handled. Undefined if that is already so, or the delivery is not open.
   */
  get drained(): Promise<void> | undefined {
    if (!this.#open || (!this.#busy && this.#queue.first === undefined)) return undefined;
    const mark = deferred();
    this.#queue.push(() => mark.resolve());
    return mark.promise;
  }

  /** Removes and returns the items that were not delivered. */
  take(): { readonly at: number; readonly item: Item }[] {
    const taken: { at: number; item: Item }[] = [];
    for (const { at, item } of this.#queue.clear()) {
      if (typeof item === "function") item();
      else taken.push({ at, item });
    }
    this.#releaseRoom();
    return taken;
  }

  stop(): void {
    this.#stopped = true;
    this.take();
  }

  #run(): void {
    while (this.#open && !this.#busy) {
      const entry = this.#queue.shift();
      if (entry === undefined) break;
      if (typeof entry.item === "function") entry.item();
      else this.#deliver(entry.item);
    }
    if (this.#queue.size <= SOFT_LIMIT / 2) this.#releaseRoom();
  }

  #deliver(item: Item): void {
    try {
      const done = this.#handler(item);
      if (!(done instanceof Promise)) return;
      this.#busy = true;
      const settled = (): void => {
        this.#busy = false;
        this.#run();
      };
      done.then(settled, (error: unknown) => {
        this.#fail(error);
        settled();
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#failed(error);
  }

  #releaseRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
