/** Bounds on what a tool gives back. */
import type { FileDiff } from "../../domain/index.ts";

/** About ten thousand tokens: more than that drowns a model. */
export const MAX_RESULT_LENGTH = 30_000;
const MAX_DIFF_LENGTH = 100_000;

/** Keeps the beginning and the end, which say most, and tells what is missing. */
export function bounded(text: string, limit: number = MAX_RESULT_LENGTH): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n… ${left} characters left out …\n${text.slice(-half)}`;
}

export function diffOf(path: string, before: string | null, after: string): FileDiff {
  const short = (text: string | null) => text?.slice(0, MAX_DIFF_LENGTH) ?? null;
  const truncated = (before?.length ?? 0) > MAX_DIFF_LENGTH || after.length > MAX_DIFF_LENGTH;
  return { path, before: short(before), after: short(after), ...(truncated && { truncated }) };
}
