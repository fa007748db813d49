/** Hands messages to a handler: in order, one when the one before is done, and none before it is opened. */
import { deferred, type Deferred } from "../../../stdx/index.ts";
import type { UpdateItem } from "../session-items.ts";
import { HARD_LIMIT, SOFT_LIMIT, unreadLimitError } from "./limits.ts";
import { SizedQueue } from "./sized-queue.ts";

export type UpdateHandler = (item: UpdateItem) => void | Promise<void>;

/** A place in the queue that someone waits for. */
type Mark = () => void;

export class OrderedDelivery<Item extends { readonly line: string } = UpdateItem> {
  readonly #handler: (item: Item) => void | Promise<void>;
  /** Told once; nothing more is handed over. */
  readonly #failed: (error: unknown) => void;
  readonly #queue = new SizedQueue<Item | Mark>();
  #open = false;
  #busy = false;
  #over = false;
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
    if (this.#over) return;
    if (this.#open && !this.#busy && this.#queue.first === undefined) return this.#hand(item);
    this.#queue.push(item, item.line.length);
    if (this.#queue.size > HARD_LIMIT) this.#fail(unreadLimitError(HARD_LIMIT));
  }

  /** What the agent has to wait for; one that is not open holds nobody up. */
  get room(): Promise<void> | undefined {
    if (!this.#open || this.#queue.size <= SOFT_LIMIT) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  /** Resolves when everything up to now is done; undefined where it is, and where that cannot be waited for. */
  get drained(): Promise<void> | undefined {
    if (!this.#open || (!this.#busy && this.#queue.first === undefined)) return undefined;
    const mark = deferred();
    this.#queue.push(() => mark.resolve());
    return mark.promise;
  }

  /** What was not handed over, which it will not be any more. */
  take(): { readonly at: number; readonly item: Item }[] {
    const taken: { at: number; item: Item }[] = [];
    for (const { at, item } of this.#queue.clear()) {
      if (typeof item === "function") item();
      else taken.push({ at, item });
    }
    this.#letIn();
    return taken;
  }

  stop(): void {
    this.#over = true;
    this.take();
  }

  #run(): void {
    while (this.#open && !this.#busy) {
      const entry = this.#queue.shift();
      if (entry === undefined) break;
      if (typeof entry.item === "function") entry.item();
      else this.#hand(entry.item);
    }
    if (this.#queue.size <= SOFT_LIMIT / 2) this.#letIn();
  }

  #hand(item: Item): void {
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
    if (this.#over) return;
    this.stop();
    this.#failed(error);
  }

  #letIn(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
