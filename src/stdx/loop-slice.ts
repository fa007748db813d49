/** Keeps work that reads page after page without ever waiting for anything from holding the event loop. */

/** How long such work may hold the event loop before everybody else has a turn. In milliseconds. */
const SLICE_MS = 8;

/** When the work of the current turn of the event loop began, as far as it is known here. */
let startedAt: number | undefined;

/**
 * Call before each piece of synchronous work that others may have to wait for. Returns a promise of the next turn of
 * the event loop if this one has lasted long enough, else undefined: then nothing has to be waited for.
 */
export function nextLoopSlice(): Promise<void> | undefined {
  const now = performance.now();
  if (startedAt === undefined) {
    startedAt = now;
    setImmediate(() => (startedAt = undefined));
    return undefined;
  }
  return now - startedAt < SLICE_MS ? undefined : new Promise((resolve) => setImmediate(resolve));
}
