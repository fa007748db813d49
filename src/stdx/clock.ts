/** The time source of code that depends on time. Tests pass their own. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds that do not advance while the machine is suspended. Default: `now`. */
  awake?(): number;
}

export const systemClock: Required<Clock> = { now: () => Date.now(), awake: () => performance.now() };
