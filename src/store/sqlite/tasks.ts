/** Reads one task, lists tasks, and counts tasks and sessions. */
import {
  MAX_PAGE,
  type HeldTask,
  type SessionStatus,
  type TaskPhase,
  type TaskQuery,
  type TaskState,
} from "../../domain/index.ts";
import { endOfPrefix } from "../id-prefix.ts";
import { clampLimit } from "../page.ts";
import { isTaskState } from "../stored-shapes.ts";
import { ZERO_SESSION_COUNTS, ZERO_TASK_COUNTS } from "../task-facts.ts";
import { decodeJson, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database, Value } from "./database.ts";
import type { ReadPiece } from "./pages.ts";
import { readDecodableRows, decodeTaskState } from "./records.ts";

/** Throws `log_corrupt` if the state is damaged. */
export function readTask(db: Database, taskId: string): TaskState | undefined {
  const row = db.get(`select ${textColumn("state")} from task where id = ?`, taskId);
  return row && decodeTaskState(db, taskId, row[0]);
}

/** Includes only the requested conditions in the SQL, so that SQLite can use their indexes. */
export function queryTasks(db: Database, query: TaskQuery, readPiece: ReadPiece): Promise<TaskState[]> {
  const { phases, repository, agent, idPrefix, merging, removed = false, before } = query;
  const conditions: [string, Value][] = [];
  if (!removed) conditions.push(["removed = ?", 0]);
  if (phases !== undefined) conditions.push(["phase in (select value from json_each(?))", JSON.stringify(phases)]);
  if (repository !== undefined) conditions.push(["repository = ?", repository]);
  if (agent !== undefined) conditions.push(["agent = ?", agent]);
  if (idPrefix !== undefined) {
    conditions.push(["no in (select no from task where id >= ?", idPrefix], ["id < ?)", endOfPrefix(idPrefix)]);
  }
  if (merging !== undefined) conditions.push([merging ? "merging = 1 and ? = 1" : "merging = 0 and ? = 1", 1]);
  if (before !== undefined) conditions.push(["no < (select no from task where id = ?)", before]);
  const where = conditions.map(([condition]) => ` and ${condition}`).join("");
  const sql = `select ${textColumn("state")} from task where true${where} order by no ${query.order === "oldest_first" ? "asc" : "desc"} limit ?`;
  return readDecodableRows(clampLimit(query.limit), {
    read: (limit) => db.all(sql, ...conditions.map(([, value]) => value), limit),
    decode: ([state]) => decodeJson(state, isTaskState),
    readPiece,
  });
}

const LEASE_COLUMNS = ["owner", "generation", "until", "released"].map((name) => `l.${name}`);
const HELD = `select t.no as no, t.id, t.phase, ${LEASE_COLUMNS.join(", ")}
  from task t left join lease l on l.session_id = t.id where t.removed = 0`;
/** A union of two conditions, so that each uses its index. */
const HELD_TASKS = `
  select ${textColumn("id")}, ${textColumn("phase")}, ${textColumn("owner")}, ${numberColumn("generation")},
    ${numberColumn("until")}, ${numberColumn("released")}
  from (${HELD} and t.phase in ('preparing', 'running') union ${HELD} and t.merging = 1) order by no limit ?`;

/** Leaves out tasks whose row or lease is damaged: nobody can take them over. */
export function readHeldTasks(db: Database): HeldTask[] {
  return db.all(HELD_TASKS, MAX_PAGE).flatMap((row): HeldTask[] => {
    const [id, phase, owner] = row.slice(0, 3).map(decodeText) as [string?, TaskPhase?, string?];
    const [generation, until, released] = row.slice(3).map(decodeNumber);
    if (id === undefined || phase === undefined) return [];
    if (row.slice(2).every((cell) => cell === null)) return [{ id, phase, lease: undefined }];
    if (owner === undefined || generation === undefined || until === undefined || released === undefined) return [];
    return [{ id, phase, lease: released === 1 ? undefined : { sessionId: id, owner, generation, until } }];
  });
}

export function countTasks(db: Database): Record<TaskPhase, number> {
  return countRows(
    db,
    `select ${textColumn("phase")}, count(*) from task where removed = 0 group by phase`,
    ZERO_TASK_COUNTS,
  );
}

export function countSessions(db: Database): Record<SessionStatus, number> {
  return countRows(db, `select ${textColumn("status")}, count(*) from session group by status`, ZERO_SESSION_COUNTS);
}

function countRows<Key extends string>(
  db: Database,
  sql: string,
  zero: Readonly<Record<Key, number>>,
): Record<Key, number> {
  const counts: Record<Key, number> = { ...zero };
  for (const [cell, count] of db.all(sql)) {
    const key = decodeText(cell) ?? "";
    if (Object.hasOwn(counts, key)) counts[key as Key] = decodeNumber(count) ?? 0; // otherwise the row is damaged
  }
  return counts;
}
