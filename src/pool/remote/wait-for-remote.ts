/** Waits until a remote is reachable again, with backoff. */
import { isRookeryError, type RookeryError } from "../../domain/index.ts";
import { abortableSleep } from "../../stdx/index.ts";

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;

/**
 * Repeats the work while it rejects with `remote_unreachable`. `onWait` is called before each pause. Rejects with every other
 * error, or with the signal's reason.
 */
export async function retryUntilReachable<T>(
  work: () => Promise<T>,
  { onWait, signal }: { readonly onWait: (error: RookeryError) => Promise<void>; readonly signal: AbortSignal },
): Promise<T> {
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isRookeryError(error, "remote_unreachable")) throw error;
      await onWait(error);
      await abortableSleep(ms, signal);
    }
  }
}

/** Remembers, by key, when to retry what failed. */
export class RetryTimes {
  readonly #times = new Map<string, { readonly at: number; readonly waitMs: number }>();

  isDue(key: string): boolean {
    return performance.now() >= (this.#times.get(key)?.at ?? 0);
  }

  delay(key: string): void {
    const waitMs = Math.min(2 * (this.#times.get(key)?.waitMs ?? FIRST_PAUSE_MS), MAX_PAUSE_MS);
    this.#times.set(key, { at: performance.now() + waitMs, waitMs });
  }

  clear(key: string): void {
    this.#times.delete(key);
  }
}
