/** Work that a caller may ask for twice and means once: by the key they give it. What is slow goes on while they ask again. */
import { setTimeout as sleep } from "node:timers/promises";
import { RookeryError } from "../../domain/index.ts";
import type { Answer } from "./route.ts";

/** An answer is kept for as long as someone whose connection broke might ask for it. */
const KEPT_MS = 5 * 60_000;
const MAX_KEPT = 1_000;

interface Asked {
  readonly what: string;
  readonly answer: Promise<Answer>;
  settled: boolean;
}

export interface Asking {
  readonly key: string;
  /** The route and the body: another under the same key is a mistake. */
  readonly what: string;
  /** How long it is waited for; until its end if not said. */
  readonly waitMs: number | undefined;
}

export class Once {
  readonly #asked = new Map<string, Asked>();

  /** How many are being done. */
  get busy(): number {
    return Array.from(this.#asked.values()).filter(({ settled }) => !settled).length;
  }

  /** Undefined where it is still being done. Rejects as the work does, and with `input_invalid`. */
  async ask({ key, what, waitMs }: Asking, work: () => Promise<Answer>): Promise<Answer | undefined> {
    const asked = this.#asked.get(key) ?? this.#begin(key, what, work);
    if (asked.what !== what)
      throw new RookeryError("input_invalid", `the Idempotency-Key ${key} was for another request`);
    if (waitMs === undefined) return asked.answer;
    const over = new AbortController();
    const late = sleep(waitMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
    try {
      return await Promise.race([asked.answer, late]);
    } finally {
      over.abort();
    }
  }

  #begin(key: string, what: string, work: () => Promise<Answer>): Asked {
    this.#makeRoom();
    const answer = work();
    const asked: Asked = { what, answer, settled: false };
    this.#asked.set(key, asked);
    const settle = (): void => {
      asked.settled = true;
      setTimeout(() => this.#asked.get(key) === asked && this.#asked.delete(key), KEPT_MS).unref();
    };
    answer.then(settle, settle);
    return asked;
  }

  /** The oldest that is done goes; where all are being done, no more is begun. */
  #makeRoom(): void {
    if (this.#asked.size < MAX_KEPT) return;
    for (const [key, { settled }] of this.#asked) if (settled) return void this.#asked.delete(key);
    throw new RookeryError("store_unavailable", `${MAX_KEPT} requests are being done: try again later`);
  }
}
