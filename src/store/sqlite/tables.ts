/** The smaller tables: summaries, leases, the journal and blobs; and forgetting a session in all of them. */
import type { EffectKey, JournalEntry, ListQuery, SessionSummary } from "../../domain/index.ts";
import type { KeptLease } from "../lease.ts";
import { clampLimit } from "../page.ts";
import type { Database } from "./database.ts";
import { forgetInFeed } from "./feed.ts";

export function readSummary(db: Database, sessionId: string): SessionSummary | undefined {
  const row = db.get("select summary from session where id = ?", sessionId);
  return row && (JSON.parse(row[0] as string) as SessionSummary);
}

/** Ids sort by the time they were made, so the newest are the greatest. */
const LIST = `
  select summary from session
  where (?1 is null or agent = ?1) and (?2 is null or cwd = ?2) and (?3 is null or parent = ?3)
    and (status = ?4 or ?4 is null and status <> 'copying') and (?5 is null or id < ?5)
    OF_TASK
  order by id desc limit ?6`;
const LIST_ALL = LIST.replace("OF_TASK", "");
/** Apart, so that its index is used. */
const LIST_OF_TASK = LIST.replace("OF_TASK", "and task = (select no from task where id = ?7)");

export function listSummaries(db: Database, query: ListQuery): SessionSummary[] {
  const { agent = null, cwd = null, parent = null, status = null, before = null, task } = query;
  const values = [agent, cwd, parent, status, before, clampLimit(query.limit)];
  const rows = task === undefined ? db.all(LIST_ALL, ...values) : db.all(LIST_OF_TASK, ...values, task);
  return rows.map(([summary]) => JSON.parse(summary as string) as SessionSummary);
}

export function readLease(db: Database, sessionId: string): KeptLease | undefined {
  const row = db.get("select owner, generation, until, released from lease where session_id = ?", sessionId);
  if (row === undefined) return undefined;
  const [owner, generation, until, released] = row as [string, number, number, number];
  return { sessionId, owner, generation, until, released: released === 1 };
}

export function keepLease(db: Database, { sessionId, owner, generation, until, released }: KeptLease): void {
  const sql = "insert or replace into lease (session_id, owner, generation, until, released) values (?, ?, ?, ?, ?)";
  db.run(sql, sessionId, owner, generation, until, released ? 1 : 0);
}

export function forgetSession(db: Database, sessionId: string): void {
  forgetInFeed(db, sessionId);
  for (const table of ["event", "append", "journal"]) {
    db.run(`delete from ${table} where session = (select no from session where id = ?)`, sessionId);
  }
  db.run("delete from session where id = ?", sessionId);
  db.run("delete from lease where session_id = ?", sessionId);
}

export function readJournal(db: Database, sessionId: string, turnId: string): JournalEntry[] {
  const sql = `
    select step, kind, journal.id, finished, value from journal join session on session.no = journal.session
    where session.id = ? and turn = ? order by journal.no`;
  return db.all(sql, sessionId, turnId).map(([step, kind, id, finished, value]) => ({
    key: { sessionId, turnId, step, kind, id } as EffectKey,
    finished: finished === 1,
    value: typeof value === "string" ? (JSON.parse(value) as unknown) : undefined,
  }));
}

export function writeBlob(db: Database, hash: string, bytes: Uint8Array): void {
  db.run("insert or ignore into blob (hash, bytes) values (?, ?)", hash, bytes);
}

export function readBlob(db: Database, hash: string): Uint8Array | undefined {
  return db.get("select bytes from blob where hash = ?", hash)?.[0] as Uint8Array | undefined;
}
