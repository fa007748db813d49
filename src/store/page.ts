/** Converts queries to ranges of sequence numbers, and limits the size of pages. */
import { DEFAULT_PAGE, MAX_PAGE, type ReadQuery } from "../domain/index.ts";

/** Larger pages end early. A page always holds at least one event. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** Both ends are inclusive. The range is empty if `last < first`. */
export interface EventRange {
  readonly first: number;
  readonly last: number;
}

export function toEventRange(query: Omit<ReadQuery, "sessionId">, head: number): EventRange {
  const low = Math.max(query.after ?? 0, 0) + 1;
  const high = Math.min((query.before ?? Infinity) - 1, head);
  const count = clampLimit(query.limit);
  if (query.order === "newest_first") return { first: Math.max(low, high - count + 1), last: high };
  return { first: low, last: Math.min(high, low + count - 1) };
}

/** The part of the range that fits into `maxBytes`, starting at the end where the reader starts. */
export function fitRange(
  range: EventRange,
  order: ReadQuery["order"],
  countBytes: (range: EventRange) => number,
  maxBytes = MAX_PAGE_BYTES,
): EventRange {
  let { first, last } = range;
  while (last > first && countBytes({ first, last }) > maxBytes) {
    const half = Math.floor((last - first + 1) / 2);
    if (order === "newest_first") first = last - half + 1;
    else last = first + half - 1;
  }
  return { first, last };
}

export function clampBytes(maxBytes: number | undefined): number {
  return Math.min(maxBytes ?? MAX_PAGE_BYTES, MAX_PAGE_BYTES);
}

export function clampLimit(limit: number | undefined): number {
  return Math.min(Math.max(Math.floor(limit ?? DEFAULT_PAGE), 0), MAX_PAGE);
}
