/** How often and how soon a model is asked again after a failure that may pass. */

export interface RetryLimits {
  /** Further ones, after the first. */
  readonly tries: number;
  /** Before the first of them; twice as long before each next one. */
  readonly firstMs: number;
}

export const RETRY_LIMITS: RetryLimits = { tries: 5, firstMs: 500 };

const MOST_MS = 60_000;

export function isWorthRetrying(failures: number, { tries }: RetryLimits): boolean {
  return failures < tries;
}

/** As long as the provider said, where it said more. */
export function restOf(failures: number, afterMs = 0, { firstMs }: RetryLimits): number {
  return Math.min(Math.max(firstMs * 2 ** failures, afterMs), MOST_MS);
}
