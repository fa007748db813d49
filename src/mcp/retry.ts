/** Decides whether and when to reconnect. */
import type { Bounds } from "./options.ts";
import { findLoginNeeded, NetworkError } from "./transport/remote.ts";

/**
 * A server that was ready is always retried. Otherwise only network errors are retried, and a missing login never is.
 */
export function isPermanent(why: Error, wasReady: boolean): boolean {
  return findLoginNeeded(why) !== undefined || (!wasReady && !(why instanceof NetworkError));
}

/** Doubles with each attempt up to the limit. The random part keeps clients from reconnecting at the same time. */
export function reconnectDelay(tries: number, { retryFirstMs, retryLastMs }: Bounds): number {
  return Math.min(retryLastMs, retryFirstMs * 2 ** tries) * (0.75 + Math.random() / 4);
}
