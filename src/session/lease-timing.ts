/** How long a lease lasts, and when its holder must act. */
import type { Clock } from "../stdx/index.ts";

export interface LeaseTiming {
  /** How long a lease is valid after a renewal, in milliseconds. Must be the same in all processes. Default: 30 s. */
  readonly ttlMs: number;
  /** How often its holder renews it, in milliseconds. Default: 10 s. */
  readonly renewMs: number;
}

export const DEFAULT_LEASE_TIMING: LeaseTiming = { ttlMs: 30_000, renewMs: 10_000 };

/**
 * A holder that has not renewed for this long, by its own clock, gives up and stops its agent. Nobody takes a lease
 * before `ttlMs` have passed, so the agent has the remaining time to exit.
 */
export function giveUpMs({ ttlMs }: LeaseTiming): number {
  return (ttlMs * 5) / 6;
}

/** A monotonic time in milliseconds that stops while the machine sleeps. */
export function awakeTime(clock: Clock): number {
  return clock.awake?.() ?? clock.now();
}
