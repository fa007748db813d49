/** A list whose items can be changed by key without scanning the whole list each time. */

export interface KeyedListOptions<T> {
  /** Several items may have the same key. */
  readonly keyOf: (item: T) => string;
  /** An item that is not open stays in the list, but is not found by its key anymore. */
  readonly isOpen: (item: T) => boolean;
}

/** The number of scans before an index is built. An index of a long list pays off only for more changes. */
const MAX_SCANS = 4;
/** Removed items leave holes. The list is compacted when it has at least this many holes, and more holes than items. */
const MIN_HOLES = 1_024;

export class KeyedList<T extends object> {
  readonly #options: KeyedListOptions<T>;
  /** The caller's array until the first change. */
  #items: readonly (T | undefined)[];
  #own: (T | undefined)[] | undefined;
  #count: number;
  /** The positions of the open items by key. */
  #index: Map<string, number[]> | undefined;
  #scans = 0;
  /** The last result of `toArray`, until the list changes. */
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

  /**
   * Calls `change` with each open item of the key, in order. It returns the replacement, or undefined to remove the
   * item.
   */
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

  /** Returns the first open item of the key. */
  find(key: string): T | undefined {
    const [first] = this.#positionsOf(key);
    return first === undefined ? undefined : this.#items[first];
  }

  /** Removes all items for which `keeps` returns false. */
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

  /** Returns the same array until the list changes. */
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

  /** Removes items from the index that are removed or not open anymore. */
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
