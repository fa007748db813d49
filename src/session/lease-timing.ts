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

/** How often the renewal time and the deadline are checked during one renewal interval. */
const CHECKS_PER_RENEWAL = 10;

/** How often times are checked, and how soon a failed renewal is tried again. In milliseconds. */
export function renewalCheckMs({ renewMs }: LeaseTiming): number {
  return renewMs / CHECKS_PER_RENEWAL;
}

/** A monotonic time in milliseconds that stops while the machine sleeps. */
export function awakeTime(clock: Clock): number {
  return clock.awake?.() ?? clock.now();
}
