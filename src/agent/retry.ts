/** Decides how often and how soon a failed model request is retried. */

export interface RetryLimits {
  /** Number of retries after the first attempt. */
  readonly retries: number;
  /** Delay before the first retry. It doubles before each further one. */
  readonly firstDelayMs: number;
}

export const RETRY_LIMITS: RetryLimits = { retries: 5, firstDelayMs: 500 };

const MAX_DELAY_MS = 60_000;

export function hasRetryLeft(failures: number, { retries }: RetryLimits): boolean {
  return failures < retries;
}

/** Returns the backoff delay, or the delay that the provider asked for if that is longer. At most 60 s. */
export function computeRetryDelay(failures: number, afterMs = 0, { firstDelayMs }: RetryLimits): number {
  return Math.min(Math.max(firstDelayMs * 2 ** failures, afterMs), MAX_DELAY_MS);
}
