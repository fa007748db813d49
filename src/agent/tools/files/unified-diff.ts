/** Formats the difference between two texts as unified diff hunks. */
import { findChangedRange, formatDiffHunk, toDiffHunks, trimEndOf } from "../../../stdx/index.ts";
import { truncateMiddle } from "../truncate.ts";

/** The model knows what it changed; the diff is only a reminder. */
const MAX_LENGTH = 4_000;
const CONTEXT = 2;

/**
 * Maximum number of lines between the first and the last difference. With more, only the first lines of each side are
 * shown.
 */
const MAX_DIFFERING_LINES = 50_000;
const OVERVIEW_LINES = 50;

export function formatUnifiedDiff(before: string, after: string): string {
  const range = findChangedRange(before, after);
  const { from, to, start, fromEnd, toEnd } = range;
  if (fromEnd + toEnd - 2 * start > MAX_DIFFERING_LINES) {
    return formatOverview({ line: start + 1, removed: from.slice(start, fromEnd), added: to.slice(start, toEnd) });
  }
  return truncateMiddle(
    toDiffHunks(range, CONTEXT)
      .flatMap((hunk) => formatDiffHunk(hunk))
      .join("\n"),
    MAX_LENGTH,
  );
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
