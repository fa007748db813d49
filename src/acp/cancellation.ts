/** Stops waiting for work when an abort signal fires. The work itself continues. */
import { requestCancelled } from "./errors.ts";

/** Rejects with the error of a cancelled request (-32800) as soon as the signal fires. */
export function raceCancellation<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return race(work, signal, requestCancelled);
}

/** Rejects with the signal's reason as soon as the signal fires. Without a signal it only waits. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? work : race(work, signal, () => signal.reason as Error);
}

function race<T>(work: Promise<T>, signal: AbortSignal, createError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(createError());
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const settled = (): void => signal.removeEventListener("abort", abort);
    work.finally(settled).then(resolve, reject);
  });
}
