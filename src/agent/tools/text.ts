/** Bounds on what a tool gives back. */
import type { FileDiff } from "../../domain/index.ts";

/** About ten thousand tokens: more than that drowns a model. */
export const MAX_RESULT_LENGTH = 30_000;
const MAX_DIFF_LENGTH = 100_000;

/** Keeps the beginning and the end, which say most, and tells what is missing. */
export function bounded(text: string, limit: number = MAX_RESULT_LENGTH): string {
  if (text.length <= limit) return text.toWellFormed();
  const half = Math.floor(limit / 2);
  const left = text.length - 2 * half;
  return joined(text.slice(0, half), left, text.slice(-half));
}

/** A cut may go through a character of two halves, and providers refuse a text with half a character in it. */
export function joined(head: string, left: number, tail: string): string {
  return left > 0 ? `${head.toWellFormed()}\n… ${left} characters left out …\n${tail.toWellFormed()}` : head + tail;
}

/** Keeps the beginning of a line, and tells what is missing. */
export function cut(line: string, limit: number): string {
  if (line.length <= limit) return line.toWellFormed();
  return `${line.slice(0, limit).toWellFormed()}… (${line.length - limit} characters left out)`;
}

export function diffOf(path: string, before: string | null, after: string): FileDiff {
  const short = (text: string | null) => text?.slice(0, MAX_DIFF_LENGTH).toWellFormed() ?? null;
  const truncated = (before?.length ?? 0) > MAX_DIFF_LENGTH || after.length > MAX_DIFF_LENGTH;
  return { path, before: short(before), after: short(after), ...(truncated && { truncated }) };
}
