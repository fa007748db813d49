/** The in-memory record of idempotent requests. */
import { KEPT_REQUEST_MS, MAX_KEPT_REQUESTS, type KeptRequest } from "../../domain/index.ts";
import type { RequestKey } from "../../stdx/request-key.ts";

export class MemoryRequests {
  readonly #kept = new Map<string, KeptRequest>();

  get(key: string): KeptRequest | undefined {
    return this.#kept.get(key);
  }

  /** Records a completed request. Does nothing if the key is already known. */
  addCompleted(request: KeptRequest): void {
    this.#deleteOld(request.at);
    if (!this.#kept.has(request.key)) this.#kept.set(request.key, request);
  }

  addResponse(request: RequestKey, response: string): void {
    this.#deleteOld(request.at);
    const { key, digest, at } = request;
    const known = this.#kept.get(key) ?? { key, digest, at };
    if (known.digest === digest) this.#kept.set(key, { ...known, response });
  }

  /** The map is in insertion order, so the oldest requests come first. */
  #deleteOld(now: number): void {
    for (const [key, { at }] of this.#kept) {
      if (at >= now - KEPT_REQUEST_MS && this.#kept.size < MAX_KEPT_REQUESTS) return;
      this.#kept.delete(key);
    }
  }
}
