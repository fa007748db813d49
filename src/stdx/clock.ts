/** Time as something that is handed in, so that tests hand in another. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a count that stands still while the machine sleeps; `now` where it is left out. */
  awake?(): number;
}

export const systemClock: Clock = { now: () => Date.now(), awake: () => performance.now() };
