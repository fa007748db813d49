/** Waits that end early: at a change, or when a signal aborts. */

/** Remembers whether something changed since the last wait. */
export class ChangeSignal {
  #hasChanged = false;
  #listener: () => void = () => undefined;

  notify(): void {
    this.#hasChanged = true;
    this.#listener();
  }

  /** Resolves at the next change, at the latest after `ms`. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged) {
      const cut = new AbortController();
      const stop = (): void => cut.abort();
      this.#listener = stop;
      await sleepUnlessAborted(ms, AbortSignal.any([signal, cut.signal]));
      this.#listener = () => undefined;
    }
    this.#hasChanged = false;
  }
}

export function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
