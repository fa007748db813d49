/** Decodes stored session summaries and task states. */
import type { SessionSummary, TaskState } from "../../domain/index.ts";
import { isSummary, isTaskState } from "../stored-shapes.ts";
import { toDamageError, decodeJson } from "./columns.ts";
import type { Cell, Database, Row } from "./database.ts";
import type { ReadPiece } from "./pages.ts";

/** Throws `log_corrupt` if the summary is damaged. */
export function decodeSummary(db: Database, sessionId: string, cell: Cell | undefined): SessionSummary {
  const summary = decodeJson(cell, isSummary);
  if (summary?.id !== sessionId) throw toDamageError(db.path, `the summary of session ${sessionId}`);
  return summary;
}

/** Throws `log_corrupt` if the state is damaged. */
export function decodeTaskState(db: Database, taskId: string, cell: Cell | undefined): TaskState {
  const state = decodeJson(cell, isTaskState);
  if (state?.id !== taskId) throw toDamageError(db.path, `the state of task ${taskId}`);
  return state;
}

/** Rows decoded per event loop slice. Takes about 1 ms. */
const MAX_PIECE_ROWS = 100;

export interface RowReader<T> {
  readonly read: (limit: number) => readonly Row[];
  readonly decode: (row: Row) => T | undefined;
  readonly readPiece: ReadPiece;
}

/**
 * Reads up to `limit` rows in one query. Skips damaged rows, so that they do not hide the others: reading such a row by
 * its id throws the error. Fills the page with later rows, because callers treat a short page as the last one.
 */
export async function readDecodableRows<T>(limit: number, { read, decode, readPiece }: RowReader<T>): Promise<T[]> {
  for (let more = 0; ;) {
    const rows = await readPiece(() => read(limit + more));
    const decoded: T[] = [];
    for (let from = 0; from < rows.length; from += MAX_PIECE_ROWS) {
      const some = rows.slice(from, from + MAX_PIECE_ROWS);
      decoded.push(...(await readPiece(() => some.flatMap((row) => decode(row) ?? []))));
    }
    if (decoded.length >= limit || rows.length < limit + more) return decoded.slice(0, limit);
    more = 2 * (rows.length - decoded.length);
  }
}
