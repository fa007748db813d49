/** Waits that end early: after a time, or when a signal fires. Nothing here stops the work that is waited for. */

/**
 * Resolves or rejects with the work. Rejects with the signal's reason if the signal fires first; the work continues, and
 * its later result or error is ignored.
 */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  work.catch(() => undefined);
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

export interface TimeoutOptions {
  /** Whether the timer keeps the process alive. Default: true. */
  readonly ref?: boolean;
}

/** Resolves or rejects with the work, or resolves with undefined after `ms` milliseconds. */
export async function raceTimeout<T>(
  work: Promise<T>,
  ms: number,
  { ref = true }: TimeoutOptions = {},
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
    if (!ref) timer.unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the event happens within `ms` milliseconds. Rejects if the event rejects first. */
export async function settlesWithin(ms: number, event: Promise<unknown>): Promise<boolean> {
  return (
    (await raceTimeout(
      event.then(() => true),
      ms,
    )) ?? false
  );
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason if the signal fires first. */
export async function abortableSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await sleepOrAbort(ms, signal);
  signal?.throwIfAborted();
}

/** Resolves after `ms` milliseconds, or as soon as the signal fires. Never rejects. */
export function sleepOrAbort(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted === true) done();
  });
}

/** Resolves when the signal fires. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
