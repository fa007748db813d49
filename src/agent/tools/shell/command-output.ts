/** Reads the output of a command and keeps a bounded part of it. */
import { StringDecoder } from "node:string_decoder";
import { setImmediate as nextPoll, setTimeout as sleep } from "node:timers/promises";
import type { ProcessGroup } from "../../../stdx/index.ts";
import { MAX_RESULT_LENGTH, joinHeadAndTail } from "../truncate.ts";

/** Reads both streams continuously, so that much output neither blocks the command nor fills the memory. */
export function readStreams({ child }: ProcessGroup, take: (text: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (bytes: Buffer) => take(decoder.write(bytes)));
    stream?.on("error", () => undefined); // the streams are destroyed when the group is stopped
  }
}

/** How long the output may pause after the shell has ended, and how often. Then processes that still run are killed. */
const DRAIN_MS = 200;
const DRAIN_ROUNDS = 10;

/** Waits for output that an ended shell left in its pipes. */
export async function drainOutput(group: ProcessGroup, output: { readonly length: number }): Promise<void> {
  const closed = group.exited.then(() => true);
  let before = -1;
  for (let round = 0; round < DRAIN_ROUNDS && before !== output.length; round += 1) {
    before = output.length;
    if (await Promise.race([closed, pause()])) return;
  }
}

/** Checks the pipes once more, because the process may have been busy during the whole pause. */
async function pause(): Promise<false> {
  await sleep(DRAIN_MS, undefined, { ref: false });
  await nextPoll();
  return false;
}

/** Keeps the start and the end of the output. */
export class HeadAndTailBuffer {
  #head = "";
  #tail = "";
  #length = 0;

  /** Length of all output so far. */
  get length(): number {
    return this.#length;
  }

  get text(): string {
    return joinHeadAndTail(this.#head, this.#length - this.#head.length - this.#tail.length, this.#tail);
  }

  add(text: string): void {
    const half = MAX_RESULT_LENGTH / 2;
    this.#length += text.length;
    const room = half - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail = (this.#tail + text.slice(room)).slice(-half);
  }
}

const MAX_KEPT = 200_000;

/** Keeps the end of the output, and tracks which part was read. */
export class UnreadOutputBuffer {
  #kept = "";
  #length = 0;
  #readLength = 0;

  get length(): number {
    return this.#length;
  }

  get hasNew(): boolean {
    return this.#length > this.#readLength;
  }

  add(text: string): void {
    this.#length += text.length;
    this.#kept += text;
    if (this.#kept.length > 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT); // avoids a copy per chunk
  }

  /**
   * Returns the output since the last call. Says how much is missing if it was not kept or is too long for one result.
   */
  take(): string {
    const unread = this.#length - this.#readLength;
    this.#readLength = this.#length;
    this.#kept = this.#kept.slice(-MAX_KEPT);
    const available = this.#kept.slice(-Math.min(unread, this.#kept.length) || this.#kept.length);
    if (unread <= MAX_RESULT_LENGTH) return available.toWellFormed();
    const half = MAX_RESULT_LENGTH / 2;
    return joinHeadAndTail(available.slice(0, half), unread - 2 * half, available.slice(-half));
  }
}
