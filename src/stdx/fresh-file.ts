/**
 * A file whose owner proves that it is alive by updating the modification time. For processes that cannot check the
 * owner itself, because it runs in another container or on another machine.
 */
import { stat, utimes } from "node:fs/promises";

const TOUCH_MS = 5_000;
/** Six times as long, so that a busy owner is not mistaken for a dead one. */
const STALE_MS = 30_000;

export interface FreshFileOptions {
  /** Interval of the updates, or time without one until the file is stale. Default: 5 s for `keepFresh`, 30 s for `watchFreshness`. */
  readonly ms?: number | undefined;
}

/** Updates the modification time until it is disposed. Does not create the file again if it is gone. */
export function keepFresh(file: string, { ms = TOUCH_MS }: FreshFileOptions = {}): Disposable {
  const timer = setInterval(() => {
    const now = new Date();
    void utimes(file, now, now).catch(() => undefined);
  }, ms).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export interface FreshnessWatch {
  /** True once content and modification time have stayed the same for the whole time, by a monotonic clock. */
  isStale(content: string): Promise<boolean>;
}

export function watchFreshness(file: string, { ms = STALE_MS }: FreshFileOptions = {}): FreshnessWatch {
  let seen: { readonly what: string; readonly since: number } | undefined;
  return {
    async isStale(content) {
      const found = await stat(file).catch(() => undefined);
      const what = `${found?.mtimeMs ?? "gone"} ${content}`;
      if (seen?.what !== what) seen = { what, since: performance.now() };
      return found !== undefined && performance.now() - seen.since >= ms;
    },
  };
}
