/** Guesses what someone meant who typed a name that does not exist. */

const LONGEST_TYPO = 100;

/** The known name that is fewest edits away, or undefined where none is close enough to be meant. */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  let best: { name: string; distance: number } | undefined;
  if (typed.length > LONGEST_TYPO) return undefined;
  for (const name of known) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (distance <= allowance(typed, name) && (best === undefined || distance < best.distance)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

/** ` (did you mean X?)`, or nothing. */
export function didYouMean(typed: string, known: Iterable<string>, show = (name: string) => name): string {
  const name = nearest(typed, known);
  return name === undefined ? "" : ` (did you mean ${show(name)}?)`;
}

/** Insertions, deletions, replacements and swaps of neighbours that make one word of the other. */
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

/** Half of the longer word may differ; a name that shares less is another word. */
function allowance(typed: string, name: string): number {
  return Math.floor(Math.max(typed.length, name.length) / 2);
}
