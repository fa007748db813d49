/** Waiting that can be given up. */

/** Rejects when the signal fires, whatever becomes of the work then. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { signal: over.signal });
  });
  return Promise.race([work, aborted]).finally(() => over.abort());
}
