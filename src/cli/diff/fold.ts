/** Folds long output: shows its first lines and says how many follow. */
import { formatCount } from "../format.ts";

/** Fits on most terminals together with a question. */
export const MAX_FOLDED_LINES = 40;

/** `hint` says how to see the other lines. */
export function foldLines(lines: readonly string[], { max = MAX_FOLDED_LINES, hint = "" } = {}): string[] {
  const hidden = lines.length - max;
  if (hidden <= 1) return [...lines]; // the note would take as much room as the line
  const note = `  … ${formatCount(hidden)} more lines${hint === "" ? "" : `; ${hint}`}`;
  return [...lines.slice(0, max), note];
}
