/**
 * A file whose owner shows that it is alive by setting the file's time again and again: for those who cannot judge the
 * owner itself, because it is in another container or on another machine.
 */
import { stat, utimes } from "node:fs/promises";

const TOUCH_MS = 5_000;
/** Six times as long, so that a busy owner is not taken for a dead one. */
const STALE_MS = 30_000;

export interface FreshFileOptions {
  /** Default: 5 s for the owner, 30 s for whoever watches. */
  readonly ms?: number | undefined;
}

/** Until it is disposed. A file that is gone is left alone. */
export function keepFresh(file: string, { ms = TOUCH_MS }: FreshFileOptions = {}): Disposable {
  const timer = setInterval(() => {
    const now = new Date();
    void utimes(file, now, now).catch(() => undefined);
  }, ms).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export interface FreshnessWatch {
  /** True once the same content and time were seen for the whole time, by a clock that only goes forward. */
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
