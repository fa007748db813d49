/** The in-memory feed: assigns a position to every event of every log. */
import type { FeedText } from "../../domain/index.ts";
import type { MemoryLog } from "./log.ts";

interface MemoryFeedEntry {
  readonly position: number;
  readonly log: MemoryLog;
  readonly seq: number;
}

interface FeedLimits {
  readonly limit: number;
  readonly maxBytes: number;
}

export class MemoryFeed {
  #entries: MemoryFeedEntry[] = [];
  #head = 0;

  get head(): number {
    return this.#head;
  }

  /** Assigns positions to the last `count` events of the log. */
  add(log: MemoryLog, count: number): void {
    for (let seq = log.head - count + 1; seq <= log.head; seq += 1) {
      this.#entries.push({ position: (this.#head += 1), log, seq });
    }
  }

  remove(log: MemoryLog): void {
    this.#entries = this.#entries.filter((entry) => entry.log !== log);
  }

  readAfter(position: number, { limit, maxBytes }: FeedLimits, matches: (log: MemoryLog) => boolean): FeedText[] {
    const texts: FeedText[] = [];
    let bytes = 0;
    for (let index = this.#firstAfter(position); index < this.#entries.length && texts.length < limit; index += 1) {
      const { position, log, seq } = this.#entries[index] as MemoryFeedEntry;
      if (!matches(log)) continue;
      const text = log.text(seq);
      bytes += text.length;
      if (bytes > maxBytes && texts.length > 0) break;
      texts.push({ position, text });
    }
    return texts;
  }

  #firstAfter(position: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as MemoryFeedEntry).position > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
