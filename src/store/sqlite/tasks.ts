/** Reads one task, lists tasks and counts them. */
import type { TaskPhase, TaskQuery, TaskState } from "../../domain/index.ts";
import { endOfPrefix } from "../id-prefix.ts";
import { clampLimit } from "../page.ts";
import { ZERO_TASK_COUNTS } from "../task-facts.ts";
import { decodeJson, decodeNumber, decodeText, textColumn } from "./columns.ts";
import type { Database, Value } from "./database.ts";
import type { ReadPiece } from "./pages.ts";
import { isTaskState, readDecodableRows, decodeTaskState } from "./records.ts";

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
  const sql = `select ${textColumn("state")} from task where true${where} order by no desc limit ?`;
  return readDecodableRows(clampLimit(query.limit), {
    read: (limit) => db.all(sql, ...conditions.map(([, value]) => value), limit),
    decode: ([state]) => decodeJson(state, isTaskState),
    readPiece,
  });
}

export function countTasks(db: Database): Record<TaskPhase, number> {
  const counts: Record<TaskPhase, number> = { ...ZERO_TASK_COUNTS };
  for (const [cell, count] of db.all(
    `select ${textColumn("phase")}, count(*) from task where removed = 0 group by phase`,
  )) {
    const phase = decodeText(cell) ?? "";
    if (Object.hasOwn(counts, phase)) counts[phase as TaskPhase] = decodeNumber(count) ?? 0; // otherwise the row is damaged
  }
  return counts;
}
