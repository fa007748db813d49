/** Those who wait for logs to grow, by the log's id. */

export class Waiters {
  readonly #byLog = new Map<string, Set<Waiter>>();

  get logs(): readonly string[] {
    return Array.from(this.#byLog.keys());
  }

  get empty(): boolean {
    return this.#byLog.size === 0;
  }

  /** Resolves when the log's head passes `after`, when it is gone, when the signal fires, or when all are woken. */
  wait(logId: string, after: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#byLog.get(logId) ?? new Set();
      const waiter: Waiter = {
        after,
        wake: () => {
          signal.removeEventListener("abort", waiter.wake);
          waiters.delete(waiter);
          if (waiters.size === 0 && this.#byLog.get(logId) === waiters) this.#byLog.delete(logId);
          resolve();
        },
      };
      if (signal.aborted) return resolve();
      this.#byLog.set(logId, waiters.add(waiter));
      signal.addEventListener("abort", waiter.wake);
    });
  }

  moved(logId: string, head: number): void {
    for (const waiter of this.#byLog.get(logId) ?? []) if (waiter.after < head) waiter.wake();
  }

  gone(logId: string): void {
    this.moved(logId, Infinity);
  }

  wakeAll(): void {
    for (const waiters of this.#byLog.values()) for (const waiter of waiters) waiter.wake();
  }
}

/** The log of everything: its head is the last position of the feed. No session has this id. */
export const FEED = "";

interface Waiter {
  readonly after: number;
  readonly wake: () => void;
}
