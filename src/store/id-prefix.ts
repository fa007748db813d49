/** Searches for ids by their beginning, as a range that an index can find. */

/** Follows every id with this prefix: ids consist of ASCII characters. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
