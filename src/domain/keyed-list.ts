/** A list that changes items by their key without looking through all of them each time. */

export interface KeyedListOptions<T> {
  /** Several items may have the same key. */
  readonly keyOf: (item: T) => string;
  /** An item that is not open is kept, and is not found by its key any more. */
  readonly isOpen: (item: T) => boolean;
}

/** As many changes look through the list; an index of a long list is worth building only for more of them. */
const MAX_SCANS = 4;
/** Removed items leave holes, which are closed when there are more of them than items, and at least so many. */
const MIN_HOLES = 1_024;

export class KeyedList<T extends object> {
  readonly #options: KeyedListOptions<T>;
  /** Those of whoever made the list, until something changes. */
  #items: readonly (T | undefined)[];
  #own: (T | undefined)[] | undefined;
  #count: number;
  /** Positions of the open items by their keys. */
  #index: Map<string, number[]> | undefined;
  #scans = 0;
  /** As it was last asked for, until it changes. */
  #array: readonly T[] | undefined;

  constructor(items: readonly T[], options: KeyedListOptions<T>) {
    this.#options = options;
    this.#items = items;
    this.#count = items.length;
    this.#array = items;
  }

  get count(): number {
    return this.#count;
  }

  add(item: T): void {
    this.#array = undefined;
    this.#count += 1;
    const position = this.#ownItems().push(item) - 1;
    if (this.#index !== undefined) addToIndex(this.#index, this.#options, item, position);
  }

  /** Calls `change` with each open item of the key, in order; it returns what takes its place, or undefined to remove it. */
  change(key: string, change: (item: T) => T | undefined): void {
    for (const position of this.#positionsOf(key)) {
      const before = this.#items[position];
      if (before !== undefined) this.#set(position, before, change(before));
    }
    this.#forgetClosed(key);
    this.#closeHoles();
  }

  remove(key: string): void {
    this.change(key, () => undefined);
  }

  /** The first open item of the key. */
  find(key: string): T | undefined {
    const [first] = this.#positionsOf(key);
    return first === undefined ? undefined : this.#items[first];
  }

  /** Removes all for which `keeps` returns false. */
  keep(keeps: (item: T) => boolean): void {
    const keys = new Set<string>();
    for (const [position, item] of this.#items.entries()) {
      if (item === undefined || keeps(item)) continue;
      keys.add(this.#options.keyOf(item));
      this.#set(position, item, undefined);
    }
    for (const key of keys) this.#forgetClosed(key);
    this.#closeHoles();
  }

  /** The same array until something changes. */
  toArray(): readonly T[] {
    return (this.#array ??= this.#items.filter((item) => item !== undefined));
  }

  #positionsOf(key: string): readonly number[] {
    const { keyOf, isOpen } = this.#options;
    if (this.#index !== undefined) return this.#index.get(key) ?? [];
    if (this.#scans < MAX_SCANS) {
      this.#scans += 1;
      return this.#items.flatMap((item, at) => (item !== undefined && keyOf(item) === key && isOpen(item) ? [at] : []));
    }
    this.#index = new Map();
    for (const [position, item] of this.#items.entries())
      if (item !== undefined) addToIndex(this.#index, this.#options, item, position);
    return this.#index.get(key) ?? [];
  }

  #set(position: number, before: T, after: T | undefined): void {
    if (after === before) return;
    this.#array = undefined;
    this.#ownItems()[position] = after;
    if (after === undefined) this.#count -= 1;
  }

  /** Takes those out of the index that are removed or no longer open. */
  #forgetClosed(key: string): void {
    const positions = this.#index?.get(key);
    if (positions === undefined) return;
    const open = positions.filter((position) => {
      const item = this.#items[position];
      return item !== undefined && this.#options.isOpen(item);
    });
    if (open.length === 0) this.#index?.delete(key);
    else this.#index?.set(key, open);
  }

  #ownItems(): (T | undefined)[] {
    this.#items = this.#own ??= [...this.#items];
    return this.#own;
  }

  #closeHoles(): void {
    const holes = this.#items.length - this.#count;
    if (holes < MIN_HOLES || holes <= this.#count) return;
    this.#items = this.toArray();
    this.#own = undefined;
    this.#index = undefined;
  }
}

function addToIndex<T>(
  index: Map<string, number[]>,
  { keyOf, isOpen }: KeyedListOptions<T>,
  item: T,
  position: number,
): void {
  if (!isOpen(item)) return;
  const key = keyOf(item);
  const positions = index.get(key);
  if (positions === undefined) index.set(key, [position]);
  else positions.push(position);
}
