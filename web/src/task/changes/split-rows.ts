/** Puts removed lines beside the added ones, for the view with two columns. */
import type { PatchLine, PatchRow } from "./parse-patch.ts";

export interface LinePair {
  readonly kind: "pair";
  readonly file: number;
  readonly left: PatchLine | undefined;
  readonly right: PatchLine | undefined;
}

export type SplitRow = Exclude<PatchRow, PatchLine> | LinePair;

export function toSplitRows(rows: readonly PatchRow[]): SplitRow[] {
  const split: SplitRow[] = [];
  let removed: PatchLine[] = [];
  let added: PatchLine[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      const [left, right] = [removed[at], added[at]];
      split.push({ kind: "pair", file: (left ?? right)?.file ?? 0, left, right });
    }
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === "line" && row.change === "removed") {
      if (added.length > 0) flush(); // these replace nothing above them
      removed.push(row);
    } else if (row.kind === "line" && row.change === "added") added.push(row);
    else {
      flush();
      split.push(row.kind === "line" ? { kind: "pair", file: row.file, left: row, right: row } : row);
    }
  }
  flush();
  return split;
}
