/** Bounds file diffs, so that they fit into the log: texts become excerpts around the changes, or are cut. */
import type { FileDiff } from "./events.ts";

/** Maximum number of characters of both texts of one diff. */
const MAX_DIFF_LENGTH = 100_000;
/** Maximum number of characters of all diffs of one event. The texts of further diffs are omitted. */
const MAX_DIFFS_LENGTH = 400_000;
/** Maximum number of diffs of one event. Further ones are omitted. */
const MAX_DIFFS = 1_000;
/** Lines that an excerpt keeps on each side of the changes. */
const CONTEXT_LINES = 10;

export function boundFileDiffs(diffs: readonly FileDiff[]): FileDiff[] {
  let room = MAX_DIFFS_LENGTH;
  return diffs.slice(0, MAX_DIFFS).map((diff) => {
    const bounded = boundFileDiff(diff);
    const length = textLength(bounded);
    if (length > room) return { path: diff.path, before: null, after: null, truncated: true };
    room -= length;
    return bounded;
  });
}

export function boundFileDiff(diff: FileDiff): FileDiff {
  if (textLength(diff) <= MAX_DIFF_LENGTH) return diff;
  const excerpt = toExcerpt(diff);
  if (textLength(excerpt) <= MAX_DIFF_LENGTH) return excerpt;
  const { before, after } = excerpt;
  const limit = before === null || after === null ? MAX_DIFF_LENGTH : MAX_DIFF_LENGTH / 2;
  return { ...excerpt, before: cutText(before, limit), after: cutText(after, limit), truncated: true };
}

function textLength({ before, after }: FileDiff): number {
  return (before?.length ?? 0) + (after?.length ?? 0);
}

/** Removes the lines before the first and after the last change, except for some lines of context. */
function toExcerpt(diff: FileDiff): FileDiff {
  const { before, after, line = 1 } = diff;
  if (before === null || after === null) return diff;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  const [beforeLast, afterLast] = [before.length - 1, after.length - 1];
  while (end < shorter - start && before.charCodeAt(beforeLast - end) === after.charCodeAt(afterLast - end)) end += 1;
  start = findLineStart(before, start, CONTEXT_LINES);
  end = before.length - findLineEnd(before, before.length - end, CONTEXT_LINES);
  return {
    ...diff,
    before: before.slice(start, before.length - end),
    after: after.slice(start, after.length - end),
    line: line + countLines(before.slice(0, start)),
  };
}

/** Returns the start of the line that is `lines` above the line of the position. */
function findLineStart(text: string, position: number, lines: number): number {
  let start = position === 0 ? 0 : text.lastIndexOf("\n", position - 1) + 1;
  for (let left = lines; left > 0 && start > 0; left -= 1) {
    start = start === 1 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  }
  return start;
}

/** Returns the end of the line that is `lines` below the line of the position. */
function findLineEnd(text: string, position: number, lines: number): number {
  let end = position;
  for (let left = lines; left >= 0; left -= 1) {
    const next = text.indexOf("\n", end);
    if (next === -1) return text.length;
    end = next + 1;
  }
  return end;
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

/** Cuts after the last complete line that fits. */
function cutText(text: string | null, limit: number): string | null {
  if (text === null || text.length <= limit) return text;
  const end = text.lastIndexOf("\n", limit - 1) + 1;
  return text.slice(0, end > limit / 2 ? end : limit).toWellFormed();
}
