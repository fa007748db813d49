/** A signal that fires after a time, or with one of others. */

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Was it the time? */
  readonly isLate: boolean;
}

/** Node takes none above it, and fires at once: 24 days, which is for ever here. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * In place of `AbortSignal.any([signal, AbortSignal.timeout(ms)])`: Node 20 holds the signals of `any` weakly, so that a
 * timeout which nothing else refers to is collected and never fires (seen in 20.20.2). Does not keep the process alive.
 */
export function deadline(ms: number, ...signals: readonly AbortSignal[]): Deadline {
  const time = new AbortController();
  const timer = setTimeout(
    () => time.abort(new DOMException("it took too long", "TimeoutError")),
    Math.min(ms, LONGEST_MS),
  ).unref();
  return {
    signal: AbortSignal.any([time.signal, ...signals]),
    get isLate() {
      return time.signal.aborted;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
