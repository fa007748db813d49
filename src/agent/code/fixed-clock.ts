/**
 * Makes the clock of a worker thread deterministic. QuickJS asks its thread for the time and the time zone, and a
 * program that saw either could behave differently when it runs again. Call it only in the thread of a program.
 */

/** January 1, 2000, so that date arithmetic starts at a plausible time. */
const START = Date.UTC(2000, 0, 1);

/** From now on each reading of the clock is one millisecond later than the previous one, and the time zone is UTC. */
export function installFixedClock(): void {
  let now = START;
  Date.now = () => now++;
  const proto = Date.prototype;
  proto.getTimezoneOffset = () => 0;
  const parts = ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"] as const;
  for (const part of parts) {
    proto[`get${part}`] = function (this: Date) {
      return this[`getUTC${part}`]();
    };
  }
}
