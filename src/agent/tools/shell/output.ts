/** What a command prints, kept within a bound however much it is. */
import { StringDecoder } from "node:string_decoder";
import { setImmediate as polled, setTimeout as sleep } from "node:timers/promises";
import type { ProcessGroup } from "../../../stdx/index.ts";
import { MAX_RESULT_LENGTH, joined } from "../text.ts";

/** Reads both streams as they come, so that a flood neither blocks the command nor fills the memory. */
export function readBoth({ child }: ProcessGroup, take: (text: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (bytes: Buffer) => take(decoder.write(bytes)));
    stream?.on("error", () => undefined); // destroyed on purpose when the group is stopped
  }
}

/** How long the output may pause after the shell ended, and how often it may go on; what still runs is killed then. */
const DRAIN_MS = 200;
const DRAIN_ROUNDS = 10;

/** Waits for what a shell that has ended left in its pipes. */
export async function drain(group: ProcessGroup, output: { readonly length: number }): Promise<void> {
  const closed = group.exited.then(() => true);
  let before = -1;
  for (let round = 0; round < DRAIN_ROUNDS && before !== output.length; round += 1) {
    before = output.length;
    if (await Promise.race([closed, pause()])) return;
  }
}

/** Where the process was busy for all of the pause, the pipes have still to be looked at. */
async function pause(): Promise<false> {
  await sleep(DRAIN_MS, undefined, { ref: false });
  await polled();
  return false;
}

/** Keeps the beginning and the end. */
export class Ends {
  #head = "";
  #tail = "";
  #length = 0;

  /** How much came so far. */
  get length(): number {
    return this.#length;
  }

  get text(): string {
    return joined(this.#head, this.#length - this.#head.length - this.#tail.length, this.#tail);
  }

  add(text: string): void {
    const half = MAX_RESULT_LENGTH / 2;
    this.#length += text.length;
    const room = half - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail = (this.#tail + text.slice(room)).slice(-half);
  }
}

const MOST_KEPT = 200_000;

/** Keeps the end, and knows how much of it was taken. */
export class Ring {
  #kept = "";
  #length = 0;
  #taken = 0;

  get length(): number {
    return this.#length;
  }

  get hasNew(): boolean {
    return this.#length > this.#taken;
  }

  add(text: string): void {
    this.#length += text.length;
    this.#kept += text;
    if (this.#kept.length > 2 * MOST_KEPT) this.#kept = this.#kept.slice(-MOST_KEPT); // not a copy for each character
  }

  /** What came since the last time; what is too much for one result or was not kept is left out, and said so. */
  take(): string {
    const fresh = this.#length - this.#taken;
    this.#taken = this.#length;
    this.#kept = this.#kept.slice(-MOST_KEPT);
    const there = this.#kept.slice(-Math.min(fresh, this.#kept.length) || this.#kept.length);
    if (fresh <= MAX_RESULT_LENGTH) return there.toWellFormed();
    const half = MAX_RESULT_LENGTH / 2;
    return joined(there.slice(0, half), fresh - 2 * half, there.slice(-half));
  }
}
