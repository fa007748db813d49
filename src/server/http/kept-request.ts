/** Requests with an idempotency key, kept in the store so that they outlast this server. */
import { RookeryError, type MadeEvent, type Store } from "../../domain/index.ts";
import { withRequestKey, type EventMatcher } from "../../stdx/request-key.ts";
import type { Answer } from "./route.ts";

/** In characters; a longer response is made again from what the request made. */
const MAX_RESPONSE = 256 * 1024;

export interface KeyedWork {
  readonly key: string;
  readonly digest: string;
  /** Which event the request makes; none if doing it again changes nothing. */
  readonly isMade: EventMatcher;
  /** The response, from what an earlier server made for this request. */
  readonly recall: (made: MadeEvent) => Promise<Answer>;
  readonly work: () => Promise<Answer>;
}

/**
 * Does the work once: if this or an earlier server did it already, responds as it did, or from what it made. Rejects
 * with `input_invalid` if the key was for another request.
 */
export async function doOnce(store: Store, { key, digest, isMade, recall, work }: KeyedWork): Promise<Answer> {
  const kept = await store.keptRequest(key);
  if (kept !== undefined && kept.digest !== digest) throw keyOfAnother(key);
  if (kept?.response !== undefined) return JSON.parse(kept.response) as Answer;
  if (kept?.made !== undefined) return recall(kept.made);
  const request = { key, digest, at: Date.now() };
  const answer = await withRequestKey(request, isMade, work);
  const response = JSON.stringify(answer);
  // A response that cannot be kept is made again from what the request made.
  if (response.length <= MAX_RESPONSE) await store.keepResponse(request, response).catch(() => undefined);
  return answer;
}

export function keyOfAnother(key: string): RookeryError {
  return new RookeryError("input_invalid", `the Idempotency-Key ${key} was for another request`);
}
