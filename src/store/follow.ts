/** Follows a log: yields pages while there are events, then waits for new ones until the follower stops. */
import { UNKNOWN_HEAD, type LogWatch } from "./log-watches.ts";

/** Small enough to read quickly, large enough to avoid a query per event. */
export const FOLLOW_PAGE = { limit: 500, maxBytes: 512 * 1024 };

export interface WatchSource {
  openWatch(): LogWatch;
  /** Aborts when the store closes. Followers then end without an error. */
  readonly closed: AbortSignal;
}

export interface FollowSource<Item> extends WatchSource {
  /** The next items and the cursor after them. The cursor may advance even if no item matches this follower. */
  read(after: number): Promise<{ readonly items: readonly Item[]; readonly through: number }>;
}

export interface HeadSource extends WatchSource {
  /** Undefined if the log does not exist. */
  readHead(): Promise<number | undefined>;
}

export interface FollowCursor {
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
}

export function follow<Item>(log: FollowSource<Item>, cursor: FollowCursor): AsyncIterable<Item> {
  return toAbortableIterable(log, cursor, (watch, signal) =>
    flattenPages(walkPages(log, cursor, watch, signal), signal),
  );
}

/** Yields pages as they are read. A slow consumer holds one page in memory. */
export function followPages<Item>(log: FollowSource<Item>, cursor: FollowCursor): AsyncIterable<readonly Item[]> {
  return toAbortableIterable(log, cursor, (watch, signal) => walkPages(log, cursor, watch, signal));
}

/** Yields the head when it is larger than the last one, at first `after`. Ends if the log does not exist. */
export function watchHeads(log: HeadSource, { after, signal }: FollowCursor): AsyncIterable<number> {
  return toAbortableIterable(log, { signal }, (watch, ended) => walkHeads(log, after, watch, ended));
}

/** Yields at once, and then with each notification. */
export function watchChanges(log: WatchSource, signal: AbortSignal | undefined): AsyncIterable<undefined> {
  return toAbortableIterable(log, { signal }, walkChanges);
}

type Walk<T> = (watch: LogWatch, signal: AbortSignal) => AsyncGenerator<T, undefined>;

/**
 * Iterates on demand, and holds a watch open while it does. Ends without an error when a signal fires or the store
 * closes. `return()` does so too, even while `next()` is pending.
 */
function toAbortableIterable<T>(
  log: WatchSource,
  { signal }: Pick<FollowCursor, "signal">,
  walk: Walk<T>,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const controller = new AbortController();
      const steps = walkUntilAborted(log, signal, controller, walk);
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

async function* walkUntilAborted<T>(
  log: WatchSource,
  signal: AbortSignal | undefined,
  controller: AbortController,
  walk: Walk<T>,
): AsyncGenerator<T, undefined> {
  // Not AbortSignal.any: in Node 20, a long-lived signal keeps a reference to every signal derived from it.
  const end = () => controller.abort();
  const signals = [log.closed, ...(signal === undefined ? [] : [signal])];
  if (controller.signal.aborted || signals.some(({ aborted }) => aborted)) return undefined;
  for (const source of signals) source.addEventListener("abort", end);
  const watch = log.openWatch();
  try {
    yield* walk(watch, controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error; // the store closed during a read
  } finally {
    watch[Symbol.dispose]();
    for (const source of signals) source.removeEventListener("abort", end);
  }
  return undefined;
}

async function* flattenPages<Item>(
  pages: AsyncGenerator<readonly Item[]>,
  signal: AbortSignal,
): AsyncGenerator<Item, undefined> {
  for await (const page of pages) {
    for (const item of page) {
      if (signal.aborted) return undefined;
      yield item;
    }
  }
  return undefined;
}

async function* walkPages<Item>(
  log: FollowSource<Item>,
  { after }: FollowCursor,
  watch: LogWatch,
  signal: AbortSignal,
): AsyncGenerator<readonly Item[], undefined> {
  let isReady = watch.ready === undefined;
  for (let cursor = after; !signal.aborted;) {
    const { items, through } = await log.read(cursor);
    if (signal.aborted) return undefined;
    cursor = Math.max(cursor, through);
    if (items.length > 0) {
      yield items;
    } else if (!isReady) {
      await becomeReady(watch, signal); // commits until then are found by the next read
      isReady = true;
    } else {
      await watch.wait(cursor, signal);
    }
  }
  return undefined;
}

async function* walkHeads(
  log: HeadSource,
  after: number,
  watch: LogWatch,
  signal: AbortSignal,
): AsyncGenerator<number, undefined> {
  await becomeReady(watch, signal);
  let cursor = after;
  for (let head: number | undefined = UNKNOWN_HEAD; !signal.aborted; head = await watch.wait(cursor, signal)) {
    if (head === UNKNOWN_HEAD) head = await log.readHead();
    if (head === undefined || signal.aborted) return undefined;
    if (head <= cursor) continue;
    cursor = head;
    yield head;
  }
  return undefined;
}

async function* walkChanges(watch: LogWatch, signal: AbortSignal): AsyncGenerator<undefined, undefined> {
  await becomeReady(watch, signal);
  for (; !signal.aborted; await watch.wait(0, signal)) yield undefined;
  return undefined;
}

/** Also resolves when the signal fires. */
async function becomeReady({ ready }: LogWatch, signal: AbortSignal): Promise<void> {
  if (ready === undefined || signal.aborted) return;
  let stop: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (stop = resolve));
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([ready, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
