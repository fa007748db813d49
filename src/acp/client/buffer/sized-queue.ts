/** A FIFO queue that knows how much memory its entries hold. */

export interface QueueEntry<Item> {
  /** Increases with each arrival, across all queues of a session. */
  readonly at: number;
  readonly item: Item;
  readonly size: number;
}

/** Memory of an entry besides its text, in characters. */
const ENTRY_OVERHEAD = 256;
/** Compacts the array after this many removed entries. */
const COMPACT_AFTER = 1024;

let arrivals = 0;

export class SizedQueue<Item> {
  #entries: (QueueEntry<Item> | undefined)[] = [];
  #read = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): QueueEntry<Item> | undefined {
    return this.#entries[this.#read];
  }

  push(item: Item, characters = 0): void {
    const size = characters + ENTRY_OVERHEAD;
    this.#entries.push({ at: (arrivals += 1), item, size });
    this.#size += size;
  }

  shift(): QueueEntry<Item> | undefined {
    const entry = this.first;
    if (entry === undefined) return undefined;
    this.#entries[this.#read] = undefined; // frees the entry before the array is compacted
    this.#read += 1;
    this.#size -= entry.size;
    if (this.#read === this.#entries.length || this.#read > COMPACT_AFTER) {
      this.#entries = this.#entries.slice(this.#read);
      this.#read = 0;
    }
    return entry;
  }

  /** Removes and returns all entries. */
  clear(): QueueEntry<Item>[] {
    const entries = this.#entries.slice(this.#read).filter((entry) => entry !== undefined);
    this.#entries = [];
    this.#read = 0;
    this.#size = 0;
    return entries;
  }
}

/** Returns the queue with the oldest first entry, or undefined if all are empty. */
export function findOldestQueue<Item>(queues: readonly SizedQueue<Item>[]): SizedQueue<Item> | undefined {
  let found: SizedQueue<Item> | undefined;
  for (const queue of queues) {
    if (queue.first !== undefined && (found?.first === undefined || queue.first.at < found.first.at)) found = queue;
  }
  return found;
}
