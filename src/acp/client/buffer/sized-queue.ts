/** Things in the order in which they came, with the memory that they hold. */

export interface QueueEntry<Item> {
  /** Later ones are larger, also across the queues of a session. */
  readonly at: number;
  readonly item: Item;
  readonly size: number;
}

/** Beside its text: a short update is not as few bytes as it has characters. */
const ENTRY_OVERHEAD = 256;
/** Read entries that are kept before the array is cut. */
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
    this.#entries[this.#read] = undefined; // it is not to be kept until the array is cut
    this.#read += 1;
    this.#size -= entry.size;
    if (this.#read === this.#entries.length || this.#read > COMPACT_AFTER) {
      this.#entries = this.#entries.slice(this.#read);
      this.#read = 0;
    }
    return entry;
  }

  /** Empties it and gives what was there. */
  clear(): QueueEntry<Item>[] {
    const entries = this.#entries.slice(this.#read).filter((entry) => entry !== undefined);
    this.#entries = [];
    this.#read = 0;
    this.#size = 0;
    return entries;
  }
}

/** The queue whose first entry came before those of the others; undefined where all are empty. */
export function findOldestQueue<Item>(queues: readonly SizedQueue<Item>[]): SizedQueue<Item> | undefined {
  let found: SizedQueue<Item> | undefined;
  for (const queue of queues) {
    if (queue.first !== undefined && (found?.first === undefined || queue.first.at < found.first.at)) found = queue;
  }
  return found;
}
