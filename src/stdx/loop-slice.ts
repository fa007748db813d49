/** Splits long synchronous work, such as reading a log page by page, so that it does not block the event loop. */

/** How long such work may block the event loop at a time. In milliseconds. */
const SLICE_MS = 8;

/** When the current slice began; undefined if no work has asked for one in this turn of the event loop. */
let startedAt: number | undefined;

/** Work that waits for its next piece, the longest waiting first. */
const waiting: (() => void)[] = [];

/**
 * Call before each piece (some milliseconds at most) of synchronous work that others may have to wait for. Returns
 * undefined if the piece can be done now. Otherwise returns a promise that resolves in a later turn of the event loop, in
 * which the piece can be done. All work of the process shares one slice per turn, and takes turns piece by piece.
 */
export function nextLoopSlice(): Promise<void> | undefined {
  if (startedAt === undefined) {
    startSlice();
    return undefined;
  }
  if (waiting.length === 0 && !isSpent(startedAt)) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

/** Items mapped between two checks of the time. Each takes a few microseconds. */
const ITEMS_PER_PIECE = 100;

/** Like `items.map(map)`, for a long list, without blocking the event loop. `items` must not change until it resolves. */
export async function mapInLoopSlices<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  for (const [index, item] of items.entries()) {
    const slice = index % ITEMS_PER_PIECE === 0 ? nextLoopSlice() : undefined;
    if (slice !== undefined) await slice;
    mapped.push(map(item));
  }
  return mapped;
}

function startSlice(): void {
  startedAt = performance.now();
  setImmediate(endSlice);
}

function endSlice(): void {
  startedAt = undefined;
  if (waiting.length === 0) return;
  startSlice();
  resumeNext();
}

function resumeNext(): void {
  if (startedAt === undefined || isSpent(startedAt)) return;
  const resume = waiting.shift();
  if (resume === undefined) return;
  resume();
  queueMicrotask(() => process.nextTick(resumeNext)); // once the microtasks of the piece are done
}

function isSpent(since: number): boolean {
  return performance.now() - since >= SLICE_MS;
}
