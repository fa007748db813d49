/** Compares two texts line by line with bounded work, for unified diffs. */

export interface DiffLine {
  readonly sign: " " | "-" | "+";
  /** With its line break. Only the last line of a text may have none. */
  readonly line: string;
}

/** A group of changed lines with the unchanged lines around them. */
export interface DiffHunk {
  /** The number of the first line in the old text, starting at 1. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly DiffLine[];
}

/** The lines of two texts, and the range that contains all differences. */
export interface ChangedRange {
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The index of the first line that differs, the same in both texts. */
  readonly start: number;
  readonly fromEnd: number;
  readonly toEnd: number;
}

/**
 * Maximum number of differing lines. With more, everything between the first and the last difference counts as
 * replaced.
 */
const MAX_CHANGES = 400;
/** Maximum number of line comparisons, for the same fallback: in repetitive files lines match on every diagonal. */
const MAX_COMPARISONS = 2_000_000;

export function findChangedRange(before: string, after: string): ChangedRange {
  const [from, to] = [splitIntoLines(before), splitIntoLines(after)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let [fromEnd, toEnd] = [from.length, to.length];
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd -= 1;
    toEnd -= 1;
  }
  return { from, to, start, fromEnd, toEnd };
}

/** Returns the hunks with `context` unchanged lines around each change. */
export function toDiffHunks({ from, to, start, fromEnd, toEnd }: ChangedRange, context: number): DiffHunk[] {
  const skipped = Math.max(0, start - context);
  const lines: DiffLine[] = [
    ...keepLines(from.slice(skipped, start)),
    ...findChanges(from.slice(start, fromEnd), to.slice(start, toEnd)),
    ...keepLines(from.slice(fromEnd, fromEnd + context)),
  ];
  return groupLines(lines, skipped, context);
}

/** Formats a hunk as lines of a unified diff. `heading` follows its line numbers. */
export function formatDiffHunk({ oldStart, newStart, lines }: DiffHunk, heading = ""): string[] {
  const [removed, added] = (["+", "-"] as const).map((other) => lines.filter(({ sign }) => sign !== other).length);
  const range = (start: number, count = 0) => `${count === 0 ? start - 1 : start},${count}`;
  const header = `@@ -${range(oldStart, removed)} +${range(newStart, added)} @@${heading === "" ? "" : ` ${heading}`}`;
  return [
    header,
    ...lines.map(
      ({ sign, line }) => sign + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`),
    ),
  ];
}

/** Splits a text into lines and keeps the line breaks, because a last line without one is a different line. */
function splitIntoLines(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
    found.push(text.slice(from, end + 1));
    from = end + 1;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

function keepLines(list: readonly string[]): DiffLine[] {
  return list.map((line) => ({ sign: " ", line }));
}

/** Finds the shortest edit script with Myers' algorithm. */
function findChanges(from: readonly string[], to: readonly string[]): DiffLine[] {
  const reached = new Map<number, number>([[1, 0]]);
  const rounds: Map<number, number>[] = [];
  let compared = 0;
  for (let round = 0; round <= Math.min(MAX_CHANGES, from.length + to.length); round += 1) {
    if (compared > MAX_COMPARISONS) break;
    rounds.push(new Map(reached));
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      let x = findStart(reached, diagonal, round);
      const start = x;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x += 1;
      compared += x - start;
      reached.set(diagonal, x);
      if (x >= from.length && x - diagonal >= to.length) return tracePath(from, to, rounds);
    }
  }
  return [...from.map((line): DiffLine => ({ sign: "-", line })), ...to.map((line): DiffLine => ({ sign: "+", line }))];
}

/** Whether the path reaches this diagonal by an added line (from above) or by a removed line (from the left). */
function isAddition(reached: ReadonlyMap<number, number>, diagonal: number, round: number): boolean {
  const [left, above] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
  return diagonal === -round || (diagonal !== round && left < above);
}

function findStart(reached: ReadonlyMap<number, number>, diagonal: number, round: number): number {
  if (isAddition(reached, diagonal, round)) return reached.get(diagonal + 1) ?? 0;
  return (reached.get(diagonal - 1) ?? 0) + 1;
}

function tracePath(
  from: readonly string[],
  to: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
): DiffLine[] {
  const steps: DiffLine[] = [];
  let [x, y] = [from.length, to.length];
  for (const [round, reached] of [...rounds.entries()].reverse()) {
    const diagonal = x - y;
    for (const start = findStart(reached, diagonal, round); x > start; y -= 1) {
      steps.push({ sign: " ", line: from[(x -= 1)] ?? "" });
    }
    if (round === 0) break;
    if (isAddition(reached, diagonal, round)) steps.push({ sign: "+", line: to[(y -= 1)] ?? "" });
    else steps.push({ sign: "-", line: from[(x -= 1)] ?? "" });
  }
  return steps.reverse();
}

/** Changes whose context touches or overlaps share a hunk. `skipped`: the number of lines before the first one. */
function groupLines(lines: readonly DiffLine[], skipped: number, context: number): DiffHunk[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== " "),
  );
  const hunks: { oldStart: number; newStart: number; lines: DiffLine[] }[] = [];
  let [oldStart, newStart] = [skipped + 1, skipped + 1];
  for (const [at, each] of lines.entries()) {
    if (near[at] === true) {
      if (near[at - 1] !== true) hunks.push({ oldStart, newStart, lines: [] });
      hunks.at(-1)?.lines.push(each);
    }
    if (each.sign !== "+") oldStart += 1;
    if (each.sign !== "-") newStart += 1;
  }
  return hunks;
}
