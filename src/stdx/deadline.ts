/** An abort signal with a timeout. */

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Whether the time is up, as opposed to another signal having fired. */
  readonly isLate: boolean;
}

/** About 24 days. Node fires a timer with a longer delay at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns a signal that fires after `ms` milliseconds or when one of `signals` fires. Dispose it to clear the timer,
 * which does not keep the process alive. Use it instead of `AbortSignal.any([signal, AbortSignal.timeout(ms)])`: Node 20
 * holds the signals of `any` weakly, so an unreferenced timeout is collected and never fires (seen in 20.20.2).
 */
export function deadline(ms: number, ...signals: readonly AbortSignal[]): Deadline {
  const time = new AbortController();
  const timer = setTimeout(
    () => time.abort(new DOMException("the operation timed out", "TimeoutError")),
    Math.min(ms, MAX_TIMER_MS),
  ).unref();
  return {
    signal: AbortSignal.any([time.signal, ...signals]),
    get isLate() {
      return time.signal.aborted;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
