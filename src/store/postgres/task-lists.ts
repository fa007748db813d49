/** Reads and lists tasks. */
import { MAX_PAGE, type HeldTask, type TaskPhase, type TaskQuery, type TaskState } from "../../domain/index.ts";
import { endOfPrefix } from "../id-prefix.ts";
import { toLease } from "../lease.ts";
import { clampLimit } from "../page.ts";
import { isTaskState } from "../stored-shapes.ts";
import { ZERO_TASK_COUNTS } from "../task-facts.ts";
import { Conditions } from "./conditions.ts";
import type { PostgresConnection } from "./connection.ts";
import { toStoredLease } from "./leases.ts";
import { parseTaskState, selectParsable } from "./stored-json.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

export async function selectTask(connection: PostgresConnection, taskId: string): Promise<TaskState | undefined> {
  const [row] = await connection.query("select state from @task where id = $1", [toStoredText(taskId)]);
  return row && parseTaskState(row[0] as string, taskId);
}

export async function selectTasks(connection: PostgresConnection, query: TaskQuery): Promise<TaskState[]> {
  const { phases, repository, agent, idPrefix, merging, removed = false, before } = query;
  const where = new Conditions();
  if (!removed) where.add(() => "not removed");
  if (phases !== undefined) where.add((value) => `phase = any(${value(phases)}::text[])`);
  if (repository !== undefined) where.add((value) => `repository = ${value(toStoredText(repository))}`);
  if (agent !== undefined) where.add((value) => `agent = ${value(toStoredText(agent))}`);
  if (idPrefix !== undefined) {
    where.add((value) => `id >= ${value(idPrefix)} and id < ${value(endOfPrefix(idPrefix))}`);
  }
  if (merging !== undefined) where.add(() => (merging ? "merging" : "not merging"));
  if (before !== undefined) {
    where.add((value) => `no < (select no from @task where id = ${value(toStoredText(before))})`);
  }
  const order = query.order === "oldest_first" ? "asc" : "desc";
  const sql = `select state from @task where ${where.sql} order by no ${order} limit $${where.values.length + 1}::integer`;
  const read = (limit: number) => connection.query(sql, [...where.values, limit]);
  return selectParsable(clampLimit(query.limit), read, isTaskState);
}

export async function selectTaskCounts(connection: PostgresConnection): Promise<Record<TaskPhase, number>> {
  const rows = await connection.query("select phase, count(*) from @task where not removed group by phase");
  return toCounts(rows, ZERO_TASK_COUNTS);
}

/** Leaves out unknown keys, of damaged rows. */
export function toCounts<Key extends string>(
  rows: readonly (readonly unknown[])[],
  zero: Readonly<Record<Key, number>>,
): Record<Key, number> {
  const known = rows.filter(([key]) => Object.hasOwn(zero, key as string));
  return { ...zero, ...(Object.fromEntries(known as [string, number][]) as Partial<Record<Key, number>>) };
}

export async function selectHeldTasks(connection: PostgresConnection): Promise<HeldTask[]> {
  const rows = await connection.query(HELD_SQL, [MAX_PAGE]);
  return rows.map(([id, phase, ...lease]) => {
    const taskId = fromStoredText(id as string);
    const stored = lease[0] === null ? undefined : toStoredLease(taskId, lease);
    return { id: taskId, phase: phase as TaskPhase, lease: toLease(stored) };
  });
}

/** A union of two conditions, so that each uses its index. */
const HELD_SQL = `
  select t.id, t.phase, l.owner, l.generation, l.until, l.released from (
    select no, id, phase from @task where not removed and phase in ('preparing', 'running')
    union select no, id, phase from @task where not removed and merging
  ) t left join @lease l on l.session_id = t.id order by t.no limit $1::integer`;
