/**
 * Forgetting a session: in one transaction it is gone for everybody, and then what it leaves is deleted piece by piece, so
 * that nobody waits for all of it. Until then its row hides under another name, as that of a half copy, and keeps its number
 * from being given to another session; what a killed process leaves is deleted with the next session, or by the next fork.
 */
import { emptySummary } from "../../domain/index.ts";
import { requestOfDeletion } from "../admission.ts";
import { fitRange, type Range } from "../page.ts";
import { decodeNumber, decodeText, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import { forgetInFeed } from "./feed.ts";
import { bytesOf } from "./pages.ts";
import { writeMade } from "./requests.ts";

const REMAINS = "ses_deleted_";
/** Deleted in one transaction: some 10 ms of work. */
const ROWS = 5_000;
const BYTES = 4 * 1024 * 1024;

/** True for the row of a session that was deleted and of which something is still to be removed. */
export function isDeleted(id: string | undefined): boolean {
  return id?.startsWith(REMAINS) === true;
}

/** Runs inside a transaction. */
export function hideSession(db: Database, sessionId: string): void {
  forgetInFeed(db, sessionId);
  const no = decodeNumber(db.get("select no from session where id = ?", sessionId)?.[0]) ?? 0;
  const summary = { ...emptySummary(`${REMAINS}${no}`), status: "copying" };
  db.run(
    "update session set id = ?, head = 0, agent = '', cwd = '', parent = null, status = ?, summary = ?, task = null where no = ?",
    summary.id,
    summary.status,
    JSON.stringify(summary),
    no,
  );
  db.run("delete from lease where session_id = ?", sessionId);
  const request = requestOfDeletion(sessionId);
  if (request !== undefined) writeMade(db, request);
}

/** True once nothing is left of any session that was hidden. Runs inside a transaction. */
export function forgetSome(db: Database): boolean {
  const row = db.get(
    `select no, ${textColumn("id")} from session where id >= ? and id < ? and head = 0 limit 1`,
    REMAINS,
    `${REMAINS}~`,
  );
  const no = decodeNumber(row?.[0]);
  if (no === undefined) return true;
  if (forgetEvents(db, no)) return false;
  for (const [table, key] of SMALLER) {
    const some = `select ${key} from ${table} where session = ?1 limit ${ROWS}`;
    if (db.get(some, no) === undefined) continue;
    db.run(`delete from ${table} where session = ?1 and ${key} in (${some})`, no);
    return false;
  }
  db.run("delete from session where no = ?", no);
  db.run("delete from lease where session_id = ?", decodeText(row?.[1]) ?? "");
  return false;
}

const SMALLER = [
  ["append", "id"],
  ["journal", "no"],
] as const;

/** False if there are none. */
function forgetEvents(db: Database, no: number): boolean {
  const first = decodeNumber(db.get("select min(seq) from event where session = ?", no)?.[0]);
  if (first === undefined) return false;
  const bytes = (range: Range) => bytesOf(db, no, range.first, range.last);
  const { last } = fitRange({ first, last: first + ROWS - 1 }, "oldest_first", bytes, BYTES);
  db.run("delete from event where session = ? and seq <= ?", no, last);
  return true;
}
