/** Loads and updates the row of a session when events are appended to its log. */
import { emptySummary, summarize, type SessionEvent, type SessionSummary } from "../../domain/index.ts";
import { toDamageError, decodeNumber, numberColumn, textColumn } from "./columns.ts";
import type { Database, Value } from "./database.ts";
import { feedOwner, type LogRow } from "./log-row.ts";
import { decodeSummary } from "./records.ts";

const SESSION = `
  select no, ${numberColumn("head")}, ${textColumn("summary")}, ${numberColumn("task")} from session where id = ?`;

/** Throws `log_corrupt` if the row is damaged. */
export function loadSession(db: Database, id: string): LogRow {
  const row = db.get(SESSION, id);
  const no = decodeNumber(row?.[0]);
  const head = row === undefined ? 0 : decodeNumber(row[1]);
  const before = row === undefined ? emptySummary(id) : decodeSummary(db, id, row[2]);
  const task = decodeNumber(row?.[3]) ?? null;
  if (head === undefined || head !== before.head) throw toDamageError(db.path, `the head of session ${id}`);
  return {
    no,
    head,
    write(events) {
      const after = summarize(before, events as readonly SessionEvent[]);
      const ofTask = after.task === before.task ? task : findTaskNumber(db, after.task);
      const log = writeSummary(db, no, after, ofTask);
      if (no !== undefined && ofTask !== task) moveInFeed(db, log, { from: task, to: ofTask });
      return { log, whose: feedOwner(log, ofTask) };
    },
  };
}

/** Null if the task does not exist. The session then belongs to no task. */
function findTaskNumber(db: Database, taskId: string | undefined): number | null {
  if (taskId === undefined) return null;
  return decodeNumber(db.get("select no from task where id = ?", taskId)?.[0]) ?? null;
}

function writeSummary(db: Database, no: number | undefined, summary: SessionSummary, task: number | null): number {
  if (no === undefined) return insertSession(db, null, summary, task);
  db.run(
    "update session set head = ?, agent = ?, cwd = ?, parent = ?, status = ?, summary = ?, task = ? where no = ?",
    ...toMutableColumns(summary, task),
    no,
  );
  return no;
}

/** Inserts the row of a session. SQLite assigns the number if it is null. Returns the number. */
export function insertSession(db: Database, no: number | null, summary: SessionSummary, task: number | null): number {
  const sql = `
    insert into session (head, agent, cwd, parent, status, summary, task, id, no)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning no`;
  return db.get(sql, ...toMutableColumns(summary, task), summary.id, no)?.[0] as number;
}

function toMutableColumns(summary: SessionSummary, task: number | null): Value[] {
  const { head, agent, cwd, parent, status } = summary;
  return [head, agent, cwd, parent ?? null, status, JSON.stringify(summary), task];
}

function moveInFeed(db: Database, log: number, { from, to }: { from: number | null; to: number | null }): void {
  const sql = "update feed set whose = ? where whose = ? and log = ?";
  db.run(sql, feedOwner(log, to), feedOwner(log, from), log);
}
