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
}

/** On a screen with fewer rows, only the input is shown. */
export const MIN_ROWS_FOR_STATUS = 6;

export function composeLiveRegion({ rows, progress, attached, mode, status }: LiveParts): LiveRegion {
  const isSmall = rows < MIN_ROWS_FOR_STATUS;
  const below = isSmall ? [] : [status];
  const gap = isSmall ? [] : [""];
  const free = Math.max(0, rows - 1 - mode.lines.length - below.length - gap.length);
  const joined = attached.slice(0, free);
  const room = free - joined.length;
  const above = [...(room === 0 ? [] : progress.slice(-room)), ...gap, ...joined];
  const cursor = mode.cursor && { row: mode.cursor.row + above.length, column: mode.cursor.column };
  return { lines: [...above, ...mode.lines, ...below], cursor };
}
