/** Combines the file changes of several tool calls, in their order, into the changes of each file. */
import type { FileDiff } from "./events.ts";

/** The changes of each file, by path. A file has several if they do not fit together, as after a change by a command. */
export type CombinedDiffs = Map<string, FileDiff[]>;

/** Adds a change. A file whose changes cancel out is removed. */
export function addDiff(diffs: CombinedDiffs, next: FileDiff): void {
  const earlier = diffs.get(next.path) ?? [];
  const last = earlier.at(-1);
  const joined = last && joinDiffs(last, next);
  const all = joined === undefined ? [...earlier, next] : [...earlier.slice(0, -1), joined];
  const changed = all.filter((diff) => diff.truncated === true || diff.before !== diff.after);
  if (changed.length > 0) diffs.set(next.path, changed);
  else diffs.delete(next.path);
}

/** Returns the change of both. Undefined if the text of the first is not the one that the second starts from. */
function joinDiffs(first: FileDiff, second: FileDiff): FileDiff | undefined {
  if (first.truncated === true || second.truncated === true) return undefined;
  if (second.line === undefined || first.after === null || second.before === null) {
    const fits = first.line === undefined && second.line === undefined && first.after === second.before;
    return fits ? { ...first, after: second.after } : undefined;
  }
  const start = findLineOffset(first.after, second.line - (first.line ?? 1));
  if (start === undefined || !first.after.startsWith(second.before, start)) return undefined;
  const rest = first.after.slice(start + second.before.length);
  return { ...first, after: `${first.after.slice(0, start)}${second.after ?? ""}${rest}` };
}

/** The position after this many lines. Undefined if the text has fewer lines, or for a negative number. */
function findLineOffset(text: string, lines: number): number | undefined {
  if (lines < 0) return undefined;
  let at = 0;
  for (let left = lines; left > 0; left -= 1) {
    const end = text.indexOf("\n", at);
    if (end === -1) return undefined;
    at = end + 1;
  }
  return at;
}
