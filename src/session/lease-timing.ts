/** How long a lease lasts, and when its holder has to act. */
import type { Clock } from "../stdx/index.ts";

export interface LeaseTiming {
  /** How long a lease is valid after it was renewed, in milliseconds. Default: 30 s. The same for all processes. */
  readonly ttlMs: number;
  /** How often its holder renews it, in milliseconds. Default: 10 s. */
  readonly renewMs: number;
}

export const DEFAULT_LEASE_TIMING: LeaseTiming = { ttlMs: 30_000, renewMs: 10_000 };

/**
 * After this long without a renewal, by its own clock, a holder gives up and ends what it runs. Nobody takes a lease
 * before `ttlMs` have passed, so the rest is the time that ending has.
 */
export function giveUpMs({ ttlMs }: LeaseTiming): number {
  return (ttlMs * 5) / 6;
}

/** Milliseconds of a count that never goes back, and stands still while the machine sleeps. */
export function awakeTime(clock: Clock): number {
  return clock.awake?.() ?? clock.now();
}
