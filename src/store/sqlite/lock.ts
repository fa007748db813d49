/** Waiting for a lock that another process holds, without holding up this one. */
import { setTimeout as delay } from "node:timers/promises";
import { isRookeryError } from "../../domain/index.ts";

/** Tries until it works, fails for another reason than a lock, or the deadline (of `performance.now()`) has passed. */
export async function whenUnlocked<T>(work: () => T, deadline: number): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return work();
    } catch (error) {
      if (!isRookeryError(error, "store_locked") || performance.now() >= deadline) throw error;
    }
    await delay(pause(attempt));
  }
}

/** Random, so that processes that were refused together do not come back together; short, for a lock is held for milliseconds. */
export function pause(attempt: number): number {
  return 1 + Math.random() * Math.min(attempt, 10);
}
