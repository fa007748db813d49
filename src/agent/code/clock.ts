/**
 * Takes the time away from a thread: QuickJS asks the thread it runs in for the time and the time zone, and a program
 * that saw either could do something else when it is run again. For the thread of a program only.
 */

/** The first of January 2000, so that arithmetic with dates has a sane beginning. */
const START = Date.UTC(2000, 0, 1);

/** From now on each look at the clock is one millisecond later than the one before it, and the zone is UTC. */
export function stopClock(): void {
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
