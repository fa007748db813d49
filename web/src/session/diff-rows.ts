/** The lines of a file diff with their numbers. */
import type { FileDiff } from "../../../src/domain/events.ts";
import { findChangedRange, toDiffHunks } from "../../../src/stdx/line-diff.ts";
import { visible } from "../format.ts";

export interface DiffRow {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly sign: " " | "+" | "−" | "⋯";
  readonly number: number | undefined;
  readonly text: string;
}

export interface DiffRows {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
  /** What the lines do not say: that the file is new, or that a part is missing. */
  readonly note: string;
}

const CONTEXT_LINES = 3;
/** A longer line is cut: nobody reads the diff of a file with one long line. */
const MAX_LINE_LENGTH = 2_000;

export function toDiffRows(diff: FileDiff): DiffRows {
  const { before, after, truncated = false } = diff;
  const empty = { rows: [], added: 0, removed: 0 };
  if (before?.includes("\0") === true || after?.includes("\0") === true) return { ...empty, note: "binary file" };
  if (before === null && after === null) {
    return { ...empty, note: truncated ? "the change is too long or not known" : "no text" };
  }
  const hunks = toDiffHunks(findChangedRange(toLines(before), toLines(after)), CONTEXT_LINES);
  const first = diff.line ?? 1;
  const hasNumbers = !truncated || diff.line !== undefined || before === null;
  const rows: DiffRow[] = [];
  for (const [index, { oldStart, newStart, lines }] of hunks.entries()) {
    if (index > 0) rows.push({ kind: "gap", sign: "⋯", number: undefined, text: "" });
    let [oldLine, newLine] = [first + oldStart - 1, first + newStart - 1];
    for (const { sign, line } of lines) {
      const number = sign === "-" ? oldLine : newLine;
      if (sign !== "+") oldLine += 1;
      if (sign !== "-") newLine += 1;
      const row = { number: hasNumbers ? number : undefined, text: toLineText(line) };
      if (sign === " ") rows.push({ kind: "same", sign: " ", ...row });
      else rows.push(sign === "+" ? { kind: "added", sign: "+", ...row } : { kind: "removed", sign: "−", ...row });
    }
  }
  const count = (kind: DiffRow["kind"]): number => rows.filter((row) => row.kind === kind).length;
  return { rows, added: count("added"), removed: count("removed"), note: describe(diff) };
}

function describe({ before, after, truncated = false }: FileDiff): string {
  if (truncated) return before === null ? "the old text is not known" : "a part of the change is missing";
  return before === null ? "new file" : after === null ? "deleted" : "";
}

function toLines(text: string | null): string {
  return (text ?? "").replaceAll("\r\n", "\n");
}

function toLineText(line: string): string {
  const text = line.endsWith("\n") ? line.slice(0, -1) : line;
  return visible(text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text);
}
