/** Suggests the closest known name for a misspelled one. */

const MAX_NAME_LENGTH = 100;

/** The known name with the smallest edit distance, or undefined if none is close. */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  let best: { name: string; distance: number } | undefined;
  if (typed.length > MAX_NAME_LENGTH) return undefined;
  for (const name of known) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (distance <= maxDistance(typed, name, distance) && (best === undefined || distance < best.distance)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

/** Returns ` (did you mean X?)`, or an empty string if no known name is close. */
export function didYouMean(typed: string, known: Iterable<string>, show = (name: string) => name): string {
  const name = nearest(typed, known);
  return name === undefined ? "" : ` (did you mean ${show(name)}?)`;
}

/** The number of insertions, deletions, replacements and swaps of neighbors that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** A wrong suggestion is worse than none: a third of the longer name may differ, or half if letters are only missing. */
function maxDistance(typed: string, name: string, distance: number): number {
  const isOnlyMissing = distance === Math.abs(typed.length - name.length);
  return Math.floor(Math.max(typed.length, name.length) / (isOnlyMissing ? 2 : 3));
}
