/** Runs requests with an idempotency key once, across server restarts: the store keeps the key and the response. */
import { RookeryError, type MadeEvent, type Store } from "../../domain/index.ts";
import { withRequestKey, type EventMatcher } from "../../stdx/request-key.ts";
import type { RouteResponse } from "./response.ts";

/** A longer response is not stored. `recall` builds it again from the event that the request appended. */
const MAX_RESPONSE_CHARACTERS = 256 * 1024;

export interface KeyedWork {
  readonly key: string;
  readonly digest: string;
  /** Matches the event that completes the request. Never matches if repeating the request is harmless. */
  readonly isCompletion: EventMatcher;
  /** Builds the response of a request that an earlier server completed. */
  readonly recall: (made: MadeEvent) => Promise<RouteResponse>;
  readonly work: () => Promise<RouteResponse>;
}

/**
 * Runs the work, unless this or an earlier server completed it: then returns the stored response, or builds it with
 * `recall`. Rejects with `input_invalid` if the key was used for a different request.
 */
export async function runWithKey(
  store: Store,
  { key, digest, isCompletion, recall, work }: KeyedWork,
): Promise<RouteResponse> {
  const kept = await store.keptRequest(key);
  if (kept !== undefined && kept.digest !== digest) throw toKeyReusedError(key);
  if (kept?.response !== undefined) return JSON.parse(kept.response) as RouteResponse;
  if (kept?.made !== undefined) return recall(kept.made);
  const request = { key, digest, at: Date.now() };
  const result = await withRequestKey(request, isCompletion, work);
  const response = JSON.stringify(result);
  // If the response cannot be stored, `recall` builds it for the next attempt.
  if (response.length <= MAX_RESPONSE_CHARACTERS) await store.keepResponse(request, response).catch(() => undefined);
  return result;
}

export function toKeyReusedError(key: string): RookeryError {
  return new RookeryError(
    "input_invalid",
    `the Idempotency-Key ${key} was used for a different request: use a new key for each request`,
  );
}
