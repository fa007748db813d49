/**
 * Deletes sessions. The first transaction hides a session from every reader. Later transactions delete its rows in
 * batches, so that other writers do not wait long. Until then, the row stays under a special id with the status of an
 * incomplete copy, which keeps its number from being reused. If a process is killed halfway, the next deletion or fork
 * removes the rest.
 */
import { emptySummary } from "../../domain/index.ts";
import { toDeletionRequest } from "../admission.ts";
import { fitRange, type EventRange } from "../page.ts";
import { decodeNumber, decodeText, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import { writeDeletion } from "./deletions.ts";
import { removeFromFeed } from "./feed.ts";
import { sumBodyBytes } from "./pages.ts";
import { writeMadeEvent } from "./requests.ts";

const DELETED_ID_PREFIX = "ses_deleted_";
/** Limits of one transaction. Takes about 10 ms. */
const MAX_BATCH_ROWS = 5_000;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Whether this is the id of a deleted session whose rows are not all removed yet. */
export function isDeletedSessionId(id: string | undefined): boolean {
  return id?.startsWith(DELETED_ID_PREFIX) === true;
}

/** Makes the session disappear for all readers. Runs inside a transaction. */
export function hideSession(db: Database, sessionId: string): void {
  removeFromFeed(db, sessionId);
  const no = decodeNumber(db.get("select no from session where id = ?", sessionId)?.[0]) ?? 0;
  const summary = { ...emptySummary(`${DELETED_ID_PREFIX}${no}`), status: "copying" };
  db.run(
    "update session set id = ?, head = 0, agent = '', cwd = '', parent = null, status = ?, summary = ?, task = null where no = ?",
    summary.id,
    summary.status,
    JSON.stringify(summary),
    no,
  );
  db.run("delete from lease where session_id = ?", sessionId);
  writeDeletion(db, sessionId);
  const request = toDeletionRequest(sessionId);
  if (request !== undefined) writeMadeEvent(db, request);
}

/** Deletes one batch. True if no rows of hidden sessions are left. Runs inside a transaction. */
export function deleteNextBatch(db: Database): boolean {
  const row = db.get(
    `select no, ${textColumn("id")} from session where id >= ? and id < ? and head = 0 limit 1`,
    DELETED_ID_PREFIX,
    `${DELETED_ID_PREFIX}~`,
  );
  const no = decodeNumber(row?.[0]);
  if (no === undefined) return true;
  if (deleteEventBatch(db, no)) return false;
  for (const [table, key] of SMALL_TABLES) {
    const some = `select ${key} from ${table} where session = ?1 limit ${MAX_BATCH_ROWS}`;
    if (db.get(some, no) === undefined) continue;
    db.run(`delete from ${table} where session = ?1 and ${key} in (${some})`, no);
    return false;
  }
  db.run("delete from session where no = ?", no);
  db.run("delete from lease where session_id = ?", decodeText(row?.[1]) ?? "");
  return false;
}

const SMALL_TABLES = [
  ["append", "id"],
  ["journal", "no"],
] as const;

/** False if the session has no events. */
function deleteEventBatch(db: Database, no: number): boolean {
  const first = decodeNumber(db.get("select min(seq) from event where session = ?", no)?.[0]);
  if (first === undefined) return false;
  const bytes = (range: EventRange) => sumBodyBytes(db, no, range.first, range.last);
  const { last } = fitRange({ first, last: first + MAX_BATCH_ROWS - 1 }, "oldest_first", bytes, MAX_BATCH_BYTES);
  db.run("delete from event where session = ? and seq <= ?", no, last);
  return true;
}
