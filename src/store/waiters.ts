/** Promises that wait for logs to grow, by log id. */

export class LogWaiters {
  readonly #byLog = new Map<string, Set<Waiter>>();

  get logs(): readonly string[] {
    return Array.from(this.#byLog.keys());
  }

  get empty(): boolean {
    return this.#byLog.size === 0;
  }

  /** Resolves when the head passes `after`, the log is deleted, the signal aborts, or `wakeAll` is called. */
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

  notifyHead(logId: string, head: number): void {
    for (const waiter of this.#byLog.get(logId) ?? []) if (waiter.after < head) waiter.wake();
  }

  notifyDeleted(logId: string): void {
    this.notifyHead(logId, Infinity);
  }

  wakeAll(): void {
    for (const waiters of this.#byLog.values()) for (const waiter of waiters) waiter.wake();
  }
}

/** The id that stands for the feed. Its head is the last position of the feed. No session or task has this id. */
export const FEED_LOG_ID = "";

interface Waiter {
  readonly after: number;
  readonly wake: () => void;
}
