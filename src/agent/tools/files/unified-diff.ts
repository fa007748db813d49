/** The difference of two texts in the form that everybody reads: hunks of lines with their surroundings. */
import { trimEndOf } from "../../../stdx/index.ts";
import { bounded } from "../text.ts";

/** For a model that knows what it changed: a reminder, not a record. */
const MAX_LENGTH = 4_000;
const CONTEXT = 2;
/** Lines that differ; where there are more, the whole middle counts as another one. */
const MOST_CHANGES = 400;
/** Lines that are compared before the whole middle counts as another one: repetitive files fit on every diagonal. */
const MAX_COMPARISONS = 2_000_000;

/** Lines between the first and the last difference; where there are more, only their beginnings are shown. */
const MAX_STEPS = 50_000;
const OVERVIEW_LINES = 50;

interface Step {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

export function unifiedDiff(before: string, after: string): string {
  const [from, to] = [lines(before), lines(after)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let [fromEnd, toEnd] = [from.length, to.length];
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd -= 1;
    toEnd -= 1;
  }
  if (fromEnd + toEnd - 2 * start > MAX_STEPS) {
    return overview({ line: start + 1, removed: from.slice(start, fromEnd), added: to.slice(start, toEnd) });
  }
  const skipped = Math.max(0, start - CONTEXT);
  const steps: Step[] = [
    ...same(from.slice(skipped, start)),
    ...changes(from.slice(start, fromEnd), to.slice(start, toEnd)),
    ...same(from.slice(fromEnd, fromEnd + CONTEXT)),
  ];
  return bounded(hunks(steps, skipped).join("\n"), MAX_LENGTH);
}

interface Replaced {
  /** From 1 on. */
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** One hunk that says how much was replaced, and shows how each side begins. */
function overview({ line, removed, added }: Replaced): string {
  const side = (sign: "-" | "+", list: readonly string[]): string[] => [
    ...list.slice(0, OVERVIEW_LINES).map((text) => sign + trimEndOf(text, "\n")),
    ...(list.length > OVERVIEW_LINES ? [`… ${list.length - OVERVIEW_LINES} more lines with ${sign}`] : []),
  ];
  const header = `@@ -${line},${removed.length} +${line},${added.length} @@`;
  return bounded([header, ...side("-", removed), ...side("+", added)].join("\n"), MAX_LENGTH);
}

/** With their ends: a last line without one is another line. */
function lines(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
    found.push(text.slice(from, end + 1));
    from = end + 1;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

function same(list: readonly string[]): Step[] {
  return list.map((line) => ({ sign: " ", line }));
}

/** The shortest way from one to the other, as Myers finds it. */
function changes(from: readonly string[], to: readonly string[]): Step[] {
  const reached = new Map<number, number>([[1, 0]]);
  const rounds: Map<number, number>[] = [];
  let compared = 0;
  for (let round = 0; round <= Math.min(MOST_CHANGES, from.length + to.length); round += 1) {
    if (compared > MAX_COMPARISONS) break;
    rounds.push(new Map(reached));
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      let x = startOf(reached, diagonal, round);
      const start = x;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x += 1;
      compared += x - start;
      reached.set(diagonal, x);
      if (x >= from.length && x - diagonal >= to.length) return wayBack(from, to, rounds);
    }
  }
  return [...from.map((line): Step => ({ sign: "-", line })), ...to.map((line): Step => ({ sign: "+", line }))];
}

/** Does the way come from above, by a line that is new, or from the left, by one that goes? */
function isAddition(reached: ReadonlyMap<number, number>, diagonal: number, round: number): boolean {
  const [left, above] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
  return diagonal === -round || (diagonal !== round && left < above);
}

function startOf(reached: ReadonlyMap<number, number>, diagonal: number, round: number): number {
  if (isAddition(reached, diagonal, round)) return reached.get(diagonal + 1) ?? 0;
  return (reached.get(diagonal - 1) ?? 0) + 1;
}

function wayBack(
  from: readonly string[],
  to: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
): Step[] {
  const steps: Step[] = [];
  let [x, y] = [from.length, to.length];
  for (const [round, reached] of [...rounds.entries()].reverse()) {
    const diagonal = x - y;
    for (const start = startOf(reached, diagonal, round); x > start; y -= 1) {
      steps.push({ sign: " ", line: from[(x -= 1)] ?? "" });
    }
    if (round === 0) break;
    if (isAddition(reached, diagonal, round)) steps.push({ sign: "+", line: to[(y -= 1)] ?? "" });
    else steps.push({ sign: "-", line: from[(x -= 1)] ?? "" });
  }
  return steps.reverse();
}

function hunks(steps: readonly Step[], skipped: number): string[] {
  const near = steps.map((_, at) =>
    steps.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== " "),
  );
  const printed: string[] = [];
  let [from, to] = [skipped + 1, skipped + 1];
  for (const [at, { sign, line }] of steps.entries()) {
    if (near[at] === true) {
      if (near[at - 1] !== true) printed.push(header(steps, near, at, { from, to }));
      printed.push(sign + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ no newline at the end`));
    }
    if (sign !== "+") from += 1;
    if (sign !== "-") to += 1;
  }
  return printed;
}

function header(
  steps: readonly Step[],
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
