/** Deduplicates concurrent and repeated requests by idempotency key, and lets slow work continue between retries. */
import { createHash } from "node:crypto";
import { raceTimeout } from "../../stdx/index.ts";
import { RookeryError } from "../../domain/index.ts";
import { toKeyReusedError } from "./kept-request.ts";
import type { RouteResponse } from "./response.ts";

/** How long a response is remembered for a client that retries after a broken connection. */
const RESPONSE_KEPT_MS = 5 * 60_000;
const MAX_REMEMBERED_REQUESTS = 1_000;
/** Limit for all remembered responses together. One of them may hold a prompt of several megabytes. */
const MAX_REMEMBERED_CHARACTERS = 16 * 1024 * 1024;

interface RememberedRequest {
  /** Digest of the route, the parameters and the body. */
  readonly digest: string;
  readonly response: Promise<RouteResponse>;
  settled: boolean;
  characters: number;
}

export interface IdempotentCall {
  /** Undefined if the client sent no key. The work then always runs. */
  readonly key: string | undefined;
  /** The route, the parameters and the body. They must be the same for every request with this key. */
  readonly fingerprint: string;
  /** How long to wait for the work, in milliseconds. Default: until it ends. */
  readonly waitMs: number | undefined;
}

export class IdempotentRequests {
  readonly #remembered = new Map<string, RememberedRequest>();
  readonly #running = new Set<Promise<unknown>>();

  /** Number of running requests. */
  get busy(): number {
    return this.#running.size;
  }

  /**
   * Resolves with undefined if the work is still running after `waitMs`. Rejects with the error of the work, with
   * `input_invalid` if the key was used for a different request, or with `store_unavailable` if too many requests run.
   */
  async run(
    { key, fingerprint, waitMs }: IdempotentCall,
    work: (digest: string) => Promise<RouteResponse>,
  ): Promise<RouteResponse | undefined> {
    if (key === undefined) return this.#start(() => work(""));
    const digest = createHash("sha256").update(fingerprint).digest("base64");
    const request = this.#remembered.get(key) ?? this.#remember(key, digest, () => work(digest));
    if (request.digest !== digest) throw toKeyReusedError(key);
    return waitMs === undefined ? request.response : raceTimeout(request.response, waitMs, { ref: false });
  }

  /** Resolves when no request is running, or after `waitMs`. */
  async waitForAll(waitMs: number): Promise<void> {
    await raceTimeout(Promise.allSettled(this.#running), waitMs, { ref: false });
  }

  #start(work: () => Promise<RouteResponse>): Promise<RouteResponse> {
    const response = work();
    this.#running.add(response);
    const onSettled = (): unknown => this.#running.delete(response);
    response.then(onSettled, onSettled);
    return response;
  }

  #remember(key: string, digest: string, work: () => Promise<RouteResponse>): RememberedRequest {
    this.#makeRoom();
    const response = this.#start(work);
    const request: RememberedRequest = { digest, response, settled: false, characters: 0 };
    this.#remembered.set(key, request);
    const settle = (characters: number): void => {
      Object.assign(request, { settled: true, characters });
      setTimeout(() => this.#remembered.get(key) === request && this.#remembered.delete(key), RESPONSE_KEPT_MS).unref();
      this.#forgetOldest();
    };
    response.then(
      (result) => settle(JSON.stringify(result).length),
      () => settle(0),
    );
    return request;
  }

  /** Forgets the oldest finished request. Throws `store_unavailable` if all remembered requests are still running. */
  #makeRoom(): void {
    if (this.#remembered.size < MAX_REMEMBERED_REQUESTS) return;
    for (const [key, { settled }] of this.#remembered) if (settled) return void this.#remembered.delete(key);
    throw new RookeryError(
      "store_unavailable",
      `${MAX_REMEMBERED_REQUESTS} requests are running, which is the limit: try again later`,
    );
  }

  /** Forgets the oldest responses until the rest fits into the limit. */
  #forgetOldest(): void {
    let characters = Array.from(this.#remembered.values()).reduce((sum, request) => sum + request.characters, 0);
    for (const [key, request] of this.#remembered) {
      if (characters <= MAX_REMEMBERED_CHARACTERS) return;
      if (request.characters === 0) continue;
      characters -= request.characters;
      this.#remembered.delete(key);
    }
  }
}
