/** Tasks as they are found: one, many, and how many. */
import type { TaskPhase, TaskQuery, TaskState } from "../../domain/index.ts";
import { clampLimit } from "../page.ts";
import { NO_TASKS } from "../task-facts.ts";
import type { Database, Value } from "./database.ts";

export function readTask(db: Database, taskId: string): TaskState | undefined {
  const row = db.get("select state from task where id = ?", taskId);
  return row && (JSON.parse(row[0] as string) as TaskState);
}

/** Only the conditions that are asked for are in the query, so that the index for them is used. */
export function listTasks(db: Database, query: TaskQuery): TaskState[] {
  const { phases, repository, agent, merging, removed = false, before } = query;
  const conditions: [string, Value][] = [];
  if (!removed) conditions.push(["removed = ?", 0]);
  if (phases !== undefined) conditions.push(["phase in (select value from json_each(?))", JSON.stringify(phases)]);
  if (repository !== undefined) conditions.push(["repository = ?", repository]);
  if (agent !== undefined) conditions.push(["agent = ?", agent]);
  if (merging !== undefined) conditions.push([merging ? "merging = 1 and ? = 1" : "merging = 0 and ? = 1", 1]);
  if (before !== undefined) conditions.push(["no < (select no from task where id = ?)", before]);
  const where = conditions.map(([condition]) => ` and ${condition}`).join("");
  const sql = `select state from task where true${where} order by no desc limit ?`;
  const rows = db.all(sql, ...conditions.map(([, value]) => value), clampLimit(query.limit));
  return rows.map(([state]) => JSON.parse(state as string) as TaskState);
}

export function countTasks(db: Database): Record<TaskPhase, number> {
  const rows = db.all("select phase, count(*) from task where removed = 0 group by phase");
  return { ...NO_TASKS, ...(Object.fromEntries(rows as [TaskPhase, number][]) as Partial<Record<TaskPhase, number>>) };
}
