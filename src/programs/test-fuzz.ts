/** Seeded randomness and random chunking for fuzz tests. */
import { Buffer } from "node:buffer";
import { Transform } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** Returns a number in [0, 1) (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(...choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** Returns text with characters of one to four bytes, including those that JSON escapes. */
  text(most: number): string {
    return Array.from({ length: this.below(most + 1) }, () =>
      this.pick("a", "é", "€", "😀", "\n", '"', "\\", "{", "}", "[", ",", ":", "\u2028", "\0"),
    ).join("");
  }

  /** Returns a random JSON value. */
  value(depth = 2): unknown {
    const leaf = this.pick<unknown>(null, true, this.below(1_000), -this.next(), this.text(6), this.text(6));
    if (depth === 0 || this.chance(0.4)) return leaf;
    const parts = Array.from({ length: this.below(4) }, () => this.value(depth - 1));
    return this.chance(0.5) ? parts : Object.fromEntries(parts.map((part) => [this.text(3), part]));
  }
}

/** Splits bytes into pieces: some of one byte, some with many lines, some empty. */
export function chunks(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const length = random.pick(0, 1, 1 + random.below(4), random.below(60), random.below(2_000));
    pieces.push(bytes.subarray(start, start + length));
    start += length;
  }
  return pieces;
}

/** Forwards bytes in other pieces, sometimes delayed. */
export function shredder(random: Random): Transform {
  const shred = async (this_: Transform, bytes: Buffer): Promise<void> => {
    for (const piece of chunks(bytes, random)) {
      this_.push(piece);
      if (random.chance(0.05)) await pause(random);
    }
  };
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      void shred(this, bytes).then(() => done(), done);
    },
  });
}

/** Waits for nothing, some microtasks, or some turns of the event loop. */
export async function pause(random: Random): Promise<void> {
  const wait = random.pick(() => Promise.resolve(), nextTurn);
  for (let times = random.below(4); times > 0; times -= 1) await wait();
}

const LONG_RUN = process.env["ROOKERY_FUZZ"];
const FIRST_SEED = process.env["ROOKERY_SEED"];

/** Number of cases of `ROOKERY_FUZZ=all`. */
const ALL_CASES = 2_000;

/** Whether the run covers every case (`npm run fuzz`) instead of a sample. */
export function isLongFuzz(): boolean {
  return LONG_RUN !== undefined;
}

/** Returns the seeds of a run: new ones each time, as many as ROOKERY_FUZZ, or starting at ROOKERY_SEED to reproduce. */
export function seeds(atLeast: number): number[] {
  const count = LONG_RUN === undefined ? atLeast : LONG_RUN === "all" ? ALL_CASES : Number(LONG_RUN);
  const first = FIRST_SEED === undefined ? Date.now() % 2 ** 31 : Number(FIRST_SEED);
  return Array.from({ length: FIRST_SEED !== undefined && LONG_RUN === undefined ? 1 : count }, (_, at) => first + at);
}

/** Runs the case for each seed. A failure names the seed that reproduces it. */
export async function fuzz(atLeast: number, run: (random: Random) => Promise<void> | void): Promise<void> {
  for (const seed of seeds(atLeast)) {
    try {
      await run(new Random(seed));
    } catch (error) {
      throw new Error(`with ROOKERY_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
}
