/** A rate limiter (token bucket): a burst at once, and a steady rate after that. */

export interface RateLimiterOptions {
  readonly atOnce: number;
  readonly perSecond: number;
  /** Returns milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

export class RateLimiter {
  readonly #options: Required<RateLimiterOptions>;
  #left: number;
  #filledAt: number;

  constructor({ now = () => performance.now(), ...rates }: RateLimiterOptions) {
    this.#options = { now, ...rates };
    this.#left = rates.atOnce;
    this.#filledAt = now();
  }

  /** Returns false, and takes nothing, if the amount exceeds the limit for now. */
  take(amount = 1): boolean {
    const { atOnce, perSecond, now } = this.#options;
    const at = now();
    this.#left = Math.min(atOnce, this.#left + ((at - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = at;
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }
}
