/** Which events a query asks for, as a range without holes, and how much of it fits. */
import { DEFAULT_PAGE, MAX_PAGE, type ReadQuery } from "../domain/index.ts";

/** A page ends early rather than hold more than this; it always holds at least one event. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** Both ends are inclusive; `last < first` where there is nothing. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

export function rangeOf(query: Omit<ReadQuery, "sessionId">, head: number): Range {
  const low = Math.max(query.after ?? 0, 0) + 1;
  const high = Math.min((query.before ?? Infinity) - 1, head);
  const count = clampLimit(query.limit);
  if (query.order === "newest_first") return { first: Math.max(low, high - count + 1), last: high };
  return { first: low, last: Math.min(high, low + count - 1) };
}

/** The part of the range that a page may hold, counted from the end the reader starts at. */
export function fitRange(
  range: Range,
  order: ReadQuery["order"],
  bytesOf: (range: Range) => number,
  maxBytes = MAX_PAGE_BYTES,
): Range {
  let { first, last } = range;
  while (last > first && bytesOf({ first, last }) > maxBytes) {
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
