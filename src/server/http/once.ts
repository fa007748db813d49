/** Work that a caller may ask for twice and means once: by the key they give it. What is slow goes on while they ask again. */
import { createHash } from "node:crypto";
import { raceTimeout } from "../../stdx/index.ts";
import { RookeryError } from "../../domain/index.ts";
import { keyOfAnother } from "./kept-request.ts";
import type { Answer } from "./route.ts";

/** An answer is kept for as long as someone whose connection broke might ask for it. */
const KEPT_MS = 5 * 60_000;
const MAX_KEPT = 1_000;
/** Of answers that are kept, in characters: one may hold a prompt of megabytes. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface Asked {
  /** A digest, since it may be as large as a body. */
  readonly what: string;
  readonly answer: Promise<Answer>;
  settled: boolean;
  characters: number;
}

export interface Asking {
  /** Without one it is work like any other. */
  readonly key: string | undefined;
  /** The route and the body: another under the same key is a mistake. */
  readonly what: string;
  /** How long it is waited for; until its end if not said. */
  readonly waitMs: number | undefined;
}

export class Once {
  readonly #asked = new Map<string, Asked>();
  readonly #underway = new Set<Promise<unknown>>();

  /** How many are being done. */
  get busy(): number {
    return this.#underway.size;
  }

  /** Undefined where it is still being done. Rejects as the work does, and with `input_invalid`. */
  async ask({ key, what, waitMs }: Asking, work: (digest: string) => Promise<Answer>): Promise<Answer | undefined> {
    if (key === undefined) return this.#begin(() => work(""));
    const digest = createHash("sha256").update(what).digest("base64");
    const asked = this.#asked.get(key) ?? this.#remember(key, digest, () => work(digest));
    if (asked.what !== digest) throw keyOfAnother(key);
    return waitMs === undefined ? asked.answer : raceTimeout(asked.answer, waitMs, { ref: false });
  }

  /** Resolves when nothing is being done any more, whoever still waits for it, or when the time is over. */
  async rest(waitMs: number): Promise<void> {
    await raceTimeout(Promise.allSettled(this.#underway), waitMs, { ref: false });
  }

  #begin(work: () => Promise<Answer>): Promise<Answer> {
    const answer = work();
    this.#underway.add(answer);
    const over = (): unknown => this.#underway.delete(answer);
    answer.then(over, over);
    return answer;
  }

  #remember(key: string, what: string, work: () => Promise<Answer>): Asked {
    this.#makeRoom();
    const answer = this.#begin(work);
    const asked: Asked = { what, answer, settled: false, characters: 0 };
    this.#asked.set(key, asked);
    const settle = (characters: number): void => {
      Object.assign(asked, { settled: true, characters });
      setTimeout(() => this.#asked.get(key) === asked && this.#asked.delete(key), KEPT_MS).unref();
      this.#forgetOldest();
    };
    answer.then(
      (given) => settle(JSON.stringify(given).length),
      () => settle(0),
    );
    return asked;
  }

  /** The oldest that is done goes; where all are being done, no more is begun. */
  #makeRoom(): void {
    if (this.#asked.size < MAX_KEPT) return;
    for (const [key, { settled }] of this.#asked) if (settled) return void this.#asked.delete(key);
    throw new RookeryError("store_unavailable", `${MAX_KEPT} requests are being done: try again later`);
  }

  /** The oldest of those that hold anything. */
  #forgetOldest(): void {
    let characters = Array.from(this.#asked.values()).reduce((sum, asked) => sum + asked.characters, 0);
    for (const [key, asked] of this.#asked) {
      if (characters <= MAX_CHARACTERS) return;
      if (asked.characters === 0) continue;
      characters -= asked.characters;
      this.#asked.delete(key);
    }
  }
}
