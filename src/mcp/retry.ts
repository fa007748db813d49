/** When a server is reached for again, and when that is of no use. */
import type { Bounds } from "./options.ts";
import { loginNeeded, NetworkError } from "./transport/remote.ts";

/** A server that was there is reached for again whatever happened; one that never was, only if the network is to blame. */
export function isFinal(why: Error, wasReady: boolean): boolean {
  return loginNeeded(why) !== undefined || (!wasReady && !(why instanceof NetworkError));
}

/** Doubles each time, up to the last; a part of it is chance, so that many do not come back at once. */
export function backOff(tries: number, { retryFirstMs, retryLastMs }: Bounds): number {
  return Math.min(retryLastMs, retryFirstMs * 2 ** tries) * (0.75 + Math.random() / 4);
}
