/** Waits for a database lock of another process without blocking the event loop. */
import { setTimeout as delay } from "node:timers/promises";
import { isRookeryError } from "../../domain/index.ts";

/** Retries while the work throws `store_locked`, until `performance.now()` passes the deadline. */
export async function retryWhileLocked<T>(work: () => T, deadline: number): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return work();
    } catch (error) {
      if (!isRookeryError(error, "store_locked") || performance.now() >= deadline) throw error;
    }
    await delay(lockRetryDelay(attempt));
  }
}

/** In milliseconds. Random, so that processes do not retry in lockstep. Short, because locks are short. */
export function lockRetryDelay(attempt: number): number {
  return 1 + Math.random() * Math.min(attempt, 10);
}
