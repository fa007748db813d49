/** Puts the live region together so that it fits the screen. */
import type { LiveRegion } from "../../tui/inline-screen.ts";

export interface LiveParts {
  readonly rows: number;
  /** What is in progress. Its last lines are shown if there is not enough room. */
  readonly progress: readonly string[];
  /** Lines directly above the input. */
  readonly attached: readonly string[];
  /** Where the person types. */
  readonly mode: LiveRegion;
  readonly status: string;
  /** A line between the conversation and the input. Left out if the input needs the row. */
  readonly rule: string;
}

/** With fewer free rows above the input, there is no rule. */
const MIN_FREE_ROWS_FOR_RULE = 8;

/** On a screen with fewer rows, only the input is shown. */
export const MIN_ROWS_FOR_STATUS = 6;

export function composeLiveRegion({ rows, progress, attached, mode, status, rule }: LiveParts): LiveRegion {
  const isSmall = rows < MIN_ROWS_FOR_STATUS;
  const below = isSmall ? [] : [status];
  const unused = rows - 1 - mode.lines.length - below.length;
  const gap = isSmall ? [] : unused < MIN_FREE_ROWS_FOR_RULE ? [""] : ["", rule];
  const free = Math.max(0, unused - gap.length);
  const joined = attached.slice(0, free);
  const room = free - joined.length;
  const above = [...(room === 0 ? [] : progress.slice(-room)), ...gap, ...joined];
  const cursor = mode.cursor && { row: mode.cursor.row + above.length, column: mode.cursor.column };
  return { lines: [...above, ...mode.lines, ...below], cursor };
}
