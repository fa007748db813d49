/** Things in the order in which they came, with the memory that they hold. */

export interface Entry<Item> {
  /** Later ones are larger, also across the queues of a session. */
  readonly at: number;
  readonly item: Item;
  readonly size: number;
}

/** Beside its text: a short update is not as few bytes as it has characters. */
const OVERHEAD = 256;
/** Read entries that are kept before the array is cut. */
const READ_KEPT = 1024;

let arrivals = 0;

export class Queue<Item> {
  #entries: (Entry<Item> | undefined)[] = [];
  #read = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Entry<Item> | undefined {
    return this.#entries[this.#read];
  }

  push(item: Item, characters = 0): void {
    const size = characters + OVERHEAD;
    this.#entries.push({ at: (arrivals += 1), item, size });
    this.#size += size;
  }

  shift(): Entry<Item> | undefined {
    const entry = this.first;
    if (entry === undefined) return undefined;
    this.#entries[this.#read] = undefined; // it is not to be kept until the array is cut
    this.#read += 1;
    this.#size -= entry.size;
    if (this.#read === this.#entries.length || this.#read > READ_KEPT) {
      this.#entries = this.#entries.slice(this.#read);
      this.#read = 0;
    }
    return entry;
  }

  /** Empties it and gives what was there. */
  clear(): Entry<Item>[] {
    const entries = this.#entries.slice(this.#read).filter((entry) => entry !== undefined);
    this.#entries = [];
    this.#read = 0;
    this.#size = 0;
    return entries;
  }
}

/** The queue whose first entry came before those of the others; undefined where all are empty. */
export function oldest<Item>(queues: readonly Queue<Item>[]): Queue<Item> | undefined {
  let found: Queue<Item> | undefined;
  for (const queue of queues) {
    if (queue.first !== undefined && (found?.first === undefined || queue.first.at < found.first.at)) found = queue;
  }
  return found;
}
