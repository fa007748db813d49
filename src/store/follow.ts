/** Following a log: pages while there are some, then waiting, until someone ends it. */

/** Small enough to be read quickly, large enough that reading a long log is not a query per event. */
export const FOLLOW_PAGE = { limit: 500, maxBytes: 512 * 1024 };

export interface Followed<Item> {
  /** What is next, and the cursor behind it, which may move although nothing is for this follower. */
  read(after: number): Promise<{ readonly items: readonly Item[]; readonly through: number }>;
  /** Resolves when there may be more, or when the signal fires. */
  grown(after: number, signal: AbortSignal): Promise<void>;
  /** Someone began to follow; what it returns is called when they end. */
  joined(): () => void;
  /** Fires when the store is closed: every follower then ends quietly. */
  readonly closed: AbortSignal;
}

export interface Cursor {
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
}

export function follow<Item>(log: Followed<Item>, cursor: Cursor): AsyncIterable<Item> {
  return ending((over) => each(walk(log, cursor, over), over));
}

/** As they are read: whoever is slow holds one page. */
export function followPages<Item>(log: Followed<Item>, cursor: Cursor): AsyncIterable<readonly Item[]> {
  return ending((over) => walk(log, cursor, over));
}

/** A page is read only when the consumer asks for what is in it; ending is quiet, also while a `next()` is pending. */
function ending<T>(begin: (over: AbortController) => AsyncGenerator<T, undefined>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const over = new AbortController();
      const steps = begin(over);
      return {
        next: () => steps.next(),
        return: () => {
          over.abort(); // a generator's own return() would wait for the pending next(), and so for an event
          return steps.return(undefined);
        },
      };
    },
  };
}

async function* each<Item>(
  pages: AsyncGenerator<readonly Item[]>,
  over: AbortController,
): AsyncGenerator<Item, undefined> {
  for await (const page of pages) {
    for (const item of page) {
      if (over.signal.aborted) return undefined;
      yield item;
    }
  }
  return undefined;
}

async function* walk<Item>(
  log: Followed<Item>,
  { after, signal }: Cursor,
  over: AbortController,
): AsyncGenerator<readonly Item[], undefined> {
  // Not AbortSignal.any: on Node 20 a signal that lives as long as the store remembers every one made from it.
  const end = () => over.abort();
  const causes = [log.closed, ...(signal === undefined ? [] : [signal])];
  if (causes.some(({ aborted }) => aborted)) return undefined;
  for (const cause of causes) cause.addEventListener("abort", end);
  const leave = log.joined();
  try {
    for (let cursor = after; !over.signal.aborted;) {
      const { items, through } = await log.read(cursor);
      if (over.signal.aborted) return undefined;
      cursor = Math.max(cursor, through);
      if (items.length > 0) yield items;
      else await log.grown(cursor, over.signal);
    }
  } catch (error) {
    if (!over.signal.aborted) throw error; // a read that was under way when the store was closed
  } finally {
    leave();
    for (const cause of causes) cause.removeEventListener("abort", end);
  }
  return undefined;
}
