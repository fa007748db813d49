/** Stops waiting for a request when it is cancelled. */
import { requestCancelled } from "./errors.ts";

/** Rejects with the error of a cancelled request (-32800) as soon as the signal fires. The work itself continues. */
export function raceCancellation<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(requestCancelled());
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const settled = (): void => signal.removeEventListener("abort", abort);
    work.finally(settled).then(resolve, reject);
  });
}
