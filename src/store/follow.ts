/** Follows a log: yields pages while there are events, then waits for new ones until the follower stops. */

/** Small enough to read quickly, large enough to avoid a query per event. */
export const FOLLOW_PAGE = { limit: 500, maxBytes: 512 * 1024 };

export interface FollowSource<Item> {
  /** The next items and the cursor after them. The cursor may advance even if no item matches this follower. */
  read(after: number): Promise<{ readonly items: readonly Item[]; readonly through: number }>;
  /** Resolves when there may be more items, or when the signal aborts. */
  waitForGrowth(after: number, signal: AbortSignal): Promise<void>;
  /** Registers a follower. The caller must call the returned function when the follower stops. */
  addFollower(): () => void;
  /** Aborts when the store closes. Followers then end without an error. */
  readonly closed: AbortSignal;
}

export interface FollowCursor {
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
}

export function follow<Item>(log: FollowSource<Item>, cursor: FollowCursor): AsyncIterable<Item> {
  return toAbortableIterable((controller) => flattenPages(walkPages(log, cursor, controller), controller));
}

/** Yields pages as they are read. A slow consumer holds one page in memory. */
export function followPages<Item>(log: FollowSource<Item>, cursor: FollowCursor): AsyncIterable<readonly Item[]> {
  return toAbortableIterable((controller) => walkPages(log, cursor, controller));
}

/** Reads pages on demand. `return()` ends without an error, even while `next()` is pending. */
function toAbortableIterable<T>(
  start: (controller: AbortController) => AsyncGenerator<T, undefined>,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const controller = new AbortController();
      const steps = start(controller);
      return {
        next: () => steps.next(),
        return: () => {
          controller.abort(); // a generator's return() waits for the pending next(), which waits for an event
          return steps.return(undefined);
        },
      };
    },
  };
}

async function* flattenPages<Item>(
  pages: AsyncGenerator<readonly Item[]>,
  controller: AbortController,
): AsyncGenerator<Item, undefined> {
  for await (const page of pages) {
    for (const item of page) {
      if (controller.signal.aborted) return undefined;
      yield item;
    }
  }
  return undefined;
}

async function* walkPages<Item>(
  log: FollowSource<Item>,
  { after, signal }: FollowCursor,
  controller: AbortController,
): AsyncGenerator<readonly Item[], undefined> {
  // Not AbortSignal.any: in Node 20, a long-lived signal keeps a reference to every signal derived from it.
  const end = () => controller.abort();
  const signals = [log.closed, ...(signal === undefined ? [] : [signal])];
  if (signals.some(({ aborted }) => aborted)) return undefined;
  for (const source of signals) source.addEventListener("abort", end);
  const removeFollower = log.addFollower();
  try {
    for (let cursor = after; !controller.signal.aborted;) {
      const { items, through } = await log.read(cursor);
      if (controller.signal.aborted) return undefined;
      cursor = Math.max(cursor, through);
      if (items.length > 0) yield items;
      else await log.waitForGrowth(cursor, controller.signal);
    }
  } catch (error) {
    if (!controller.signal.aborted) throw error; // the store closed during a read
  } finally {
    removeFollower();
    for (const source of signals) source.removeEventListener("abort", end);
  }
  return undefined;
}
