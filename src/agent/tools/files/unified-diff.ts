/** Formats the difference between two texts as unified diff hunks. */
import { trimEndOf } from "../../../stdx/index.ts";
import { truncateMiddle } from "../truncate.ts";

/** The model knows what it changed; the diff is only a reminder. */
const MAX_LENGTH = 4_000;
const CONTEXT = 2;
/**
 * Maximum number of differing lines. With more, everything between the first and the last difference counts as
 * replaced.
 */
const MAX_CHANGES = 400;
/** Maximum number of line comparisons, for the same fallback: in repetitive files lines match on every diagonal. */
const MAX_COMPARISONS = 2_000_000;

/**
 * Maximum number of lines between the first and the last difference. With more, only the first lines of each side are
 * shown.
 */
const MAX_DIFFERING_LINES = 50_000;
const OVERVIEW_LINES = 50;

interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

export function formatUnifiedDiff(before: string, after: string): string {
  const [from, to] = [splitLines(before), splitLines(after)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let [fromEnd, toEnd] = [from.length, to.length];
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd -= 1;
    toEnd -= 1;
  }
  if (fromEnd + toEnd - 2 * start > MAX_DIFFERING_LINES) {
    return formatOverview({ line: start + 1, removed: from.slice(start, fromEnd), added: to.slice(start, toEnd) });
  }
  const skipped = Math.max(0, start - CONTEXT);
  const steps: DiffLine[] = [
    ...keepLines(from.slice(skipped, start)),
    ...findChanges(from.slice(start, fromEnd), to.slice(start, toEnd)),
    ...keepLines(from.slice(fromEnd, fromEnd + CONTEXT)),
  ];
  return truncateMiddle(formatHunks(steps, skipped).join("\n"), MAX_LENGTH);
}

interface ReplacedLines {
  /** Starts at 1. */
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Formats one hunk with the number of replaced lines and the first lines of each side. */
function formatOverview({ line, removed, added }: ReplacedLines): string {
  const side = (sign: "-" | "+", list: readonly string[]): string[] => [
    ...list.slice(0, OVERVIEW_LINES).map((text) => sign + trimEndOf(text, "\n")),
    ...(list.length > OVERVIEW_LINES ? [`… ${list.length - OVERVIEW_LINES} more lines with ${sign}`] : []),
  ];
  const header = `@@ -${line},${removed.length} +${line},${added.length} @@`;
  return truncateMiddle([header, ...side("-", removed), ...side("+", added)].join("\n"), MAX_LENGTH);
}

/** Splits a text into lines and keeps the line endings, because a last line without one is a different line. */
function splitLines(text: string): string[] {
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

function formatHunks(steps: readonly DiffLine[], skipped: number): string[] {
  const near = steps.map((_, at) =>
    steps.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
  const printed: string[] = [];
  let [from, to] = [skipped + 1, skipped + 1];
  for (const [at, { sign, line }] of steps.entries()) {
    if (near[at] === true) {
      if (near[at - 1] !== true) printed.push(formatHunkHeader(steps, near, at, { from, to }));
      printed.push(sign + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`));
    }
    if (sign !== "+") from += 1;
    if (sign !== "-") to += 1;
  }
  return printed;
}

function formatHunkHeader(
  steps: readonly DiffLine[],
  near: readonly boolean[],
  at: number,
  { from, to }: { readonly from: number; readonly to: number },
): string {
  let [removed, added] = [0, 0];
  for (let index = at; near[index] === true; index += 1) {
    if (steps[index]?.sign !== "+") removed += 1;
    if (steps[index]?.sign !== "-") added += 1;
  }
  const range = (start: number, count: number) => `${count === 0 ? start - 1 : start},${count}`;
  return `@@ -${range(from, removed)} +${range(to, added)} @@`;
}
