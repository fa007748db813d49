/** Adds the rest of the file to the diff of a program that reports only the replaced text. */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { FileDiff } from "../domain/index.ts";
import { indexOfText } from "../stdx/index.ts";

/** Larger files are not read, so their diffs have no context. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Returns null if there is no such file, and undefined if its text cannot be used. */
export type ReadFileText = (path: string) => string | null | undefined;

/** Reads a small text file. Synchronous, because a later event must not overtake the one that waits for the text. */
export const readFileText: ReadFileText = (path) => {
  if (!isAbsolute(path)) return undefined;
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
    const bytes = readFileSync(path);
    return bytes.includes(0) ? undefined : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : undefined;
  }
};

/** Completes the diff of a change that is not made yet: the file still has the old text. */
export function completeProposedDiff(diff: FileDiff, read: ReadFileText = readFileText): FileDiff {
  const { path, before, after } = diff;
  const text = after === null || diff.line !== undefined ? undefined : read(path);
  if (after === null || text === undefined || text === before) return diff;
  if (text === null) return before === "" ? { path, before: null, after } : diff;
  if (before === null) return { path, before: text, after };
  const whole = replaceOnce(text, before, after);
  return whole === undefined ? diff : { path, before: text, after: whole };
}

/** Completes the diff of a change that was made: the file has the new text. */
export function completeMadeDiff(diff: FileDiff, read: ReadFileText = readFileText): FileDiff {
  const { path, before, after } = diff;
  if (before === null || after === null || diff.line !== undefined) return diff;
  const text = read(path);
  if (text === undefined || text === null || text === after) return diff;
  const whole = replaceOnce(text, after, before);
  return whole === undefined ? diff : { path, before: whole, after: text };
}

/** Returns undefined unless the text contains `from` exactly once. */
function replaceOnce(text: string, from: string, to: string): string | undefined {
  const at = from === "" ? -1 : indexOfText(text, from);
  if (at === -1 || indexOfText(text.slice(at + 1), from) !== -1) return undefined;
  return text.slice(0, at) + to + text.slice(at + from.length);
}
