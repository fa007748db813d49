/** Remembers the last deleted sessions, so that followers in other processes end. A deletion leaves no event. */
import { decodeNumber, decodeText, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";

/** A watcher that has missed more than this reads all its logs again. */
const MAX_DELETIONS = 1_000;

/** Runs inside a transaction. */
export function writeDeletion(db: Database, sessionId: string): void {
  const no = lastDeletion(db) + 1;
  db.run("insert into deletion (no, session_id) values (?, ?)", no, sessionId);
  db.run("delete from deletion where no <= ?", no - MAX_DELETIONS);
}

/** The number of the last deletion. 0 if there was none. */
export function lastDeletion(db: Database): number {
  return decodeNumber(db.get("select max(no) from deletion")?.[0]) ?? 0;
}

export interface Deletions {
  /** The ids of the deleted sessions. */
  readonly deleted: readonly string[];
  readonly last: number;
  /** True if some of them are not known anymore. */
  readonly isGap: boolean;
}

export function readDeletionsAfter(db: Database, no: number): Deletions {
  const rows = db.all(`select no, ${textColumn("session_id")} from deletion where no > ? order by no`, no);
  const deleted = rows.flatMap((row) => decodeText(row[1]) ?? []);
  const last = decodeNumber(rows.at(-1)?.[0]) ?? no;
  return { deleted, last, isGap: deleted.length < last - no };
}
