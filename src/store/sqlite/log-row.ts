/** The session or task row that a log belongs to, and its number in the feed. */
import type { LogEvent } from "../../domain/index.ts";

export interface LogRow {
  /** The log number, which is not the row number: see the schema. Undefined if the row does not exist yet. */
  readonly no: number | undefined;
  readonly head: number;
  /** Applies the events and writes the row. Call it once, with at least one event or for an existing row. */
  write(events: readonly LogEvent[]): { readonly log: number; readonly whose: number };
}

/** The value of the column `feed.whose` for a session: the log of its task, or its own log if it has no task. */
export function feedOwner(no: number, task: number | null): number {
  return task === null ? no : -task;
}
