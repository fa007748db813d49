/** Notifies listeners of changes, once per batch and only if the version really changed. */

export class ChangeNotifier {
  readonly #version: () => string;
  readonly #listeners = new Set<() => void>();
  #lastVersion: string;
  #isScheduled = false;

  /** `version` returns a text that differs after each real change. `initial` is its value before the first change. */
  constructor(version: () => string, initial: string) {
    this.#version = version;
    this.#lastVersion = initial;
  }

  /** Returns a function that removes the listener. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls the listeners in a microtask if the version has changed since the last call. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      const version = this.#version();
      if (version === this.#lastVersion) return;
      this.#lastVersion = version;
      for (const listener of this.#listeners) callSafely(listener);
    });
  }

  clear(): void {
    this.#listeners.clear();
  }
}

/** Keeps an exception of a listener from breaking the caller. */
export function callSafely(listener: () => void): void {
  try {
    listener();
  } catch {
    // a bug in the listener; there is nowhere to report it
  }
}
