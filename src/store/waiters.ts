/** Those who wait for sessions to grow. */

export class Waiters {
  readonly #bySession = new Map<string, Set<Waiter>>();

  get sessions(): readonly string[] {
    return Array.from(this.#bySession.keys());
  }

  get empty(): boolean {
    return this.#bySession.size === 0;
  }

  /** Resolves when the session's head passes `after`, when it is gone, when the signal fires, or when all are woken. */
  wait(sessionId: string, after: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#bySession.get(sessionId) ?? new Set();
      const waiter: Waiter = {
        after,
        wake: () => {
          signal.removeEventListener("abort", waiter.wake);
          waiters.delete(waiter);
          if (waiters.size === 0 && this.#bySession.get(sessionId) === waiters) this.#bySession.delete(sessionId);
          resolve();
        },
      };
      if (signal.aborted) return resolve();
      this.#bySession.set(sessionId, waiters.add(waiter));
      signal.addEventListener("abort", waiter.wake);
    });
  }

  moved(sessionId: string, head: number): void {
    for (const waiter of this.#bySession.get(sessionId) ?? []) if (waiter.after < head) waiter.wake();
  }

  gone(sessionId: string): void {
    this.moved(sessionId, Infinity);
  }

  wakeAll(): void {
    for (const waiters of this.#bySession.values()) for (const waiter of waiters) waiter.wake();
  }
}

interface Waiter {
  readonly after: number;
  readonly wake: () => void;
}
