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

/** How many events `fitRange` measures first, and the factor by which it extends them while they fit. */
const FIRST_MEASURED = 4;
const GROWTH = 4;

/**
 * The part of the range that fits into `maxBytes`, starting at the end where the reader starts. SQLite reads events to
 * measure them, so a range of large events is not measured as a whole.
 */
export function fitRange(
  range: EventRange,
  order: ReadQuery["order"],
  countBytes: (range: EventRange) => number,
  maxBytes = MAX_PAGE_BYTES,
): EventRange {
  const size = range.last - range.first + 1;
  if (size <= 1) return range;
  const takeEvents = (count: number): EventRange =>
    order === "newest_first"
      ? { first: range.last - count + 1, last: range.last }
      : { first: range.first, last: range.first + count - 1 };
  let count = Math.min(size, FIRST_MEASURED);
  while (countBytes(takeEvents(count)) <= maxBytes) {
    if (count === size) return range;
    count = Math.min(size, count * GROWTH);
  }
  do count = Math.floor(count / 2);
  while (count > 1 && countBytes(takeEvents(count)) > maxBytes);
  return takeEvents(count);
}

export function clampBytes(maxBytes: number | undefined): number {
  return Math.min(maxBytes ?? MAX_PAGE_BYTES, MAX_PAGE_BYTES);
}

export function clampLimit(limit: number | undefined): number {
  return Math.min(Math.max(Math.floor(limit ?? DEFAULT_PAGE), 0), MAX_PAGE);
}
