/** Loads and updates the row of a task. Every search condition has a column, so searches parse no states. */
import { applyTask, type TaskEvent, type TaskState } from "../../domain/index.ts";
import { formatTaskLimits, hasOpenMerge, isClaimableTask, taskLane, taskNotBefore } from "../task-facts.ts";
import { toDamageError, decodeNumber, numberColumn, textColumn } from "./columns.ts";
import type { Database, Value } from "./database.ts";
import type { LogRow } from "./log-row.ts";
import { decodeTaskState } from "./records.ts";

/** Throws `log_corrupt` if the row is damaged. */
export function loadTask(db: Database, id: string): LogRow {
  const row = db.get(`select no, ${numberColumn("head")}, ${textColumn("state")} from task where id = ?`, id);
  const no = decodeNumber(row?.[0]);
  const head = row === undefined ? 0 : decodeNumber(row[1]);
  const before = row && decodeTaskState(db, id, row[2]);
  if (head === undefined || head !== (before?.head ?? 0)) throw toDamageError(db.path, `the head of task ${id}`);
  return {
    no: no === undefined ? undefined : -no,
    head,
    write(events) {
      const after = (events as readonly TaskEvent[]).reduce(applyTask, before as TaskState);
      const log = -(no === undefined ? insertTask(db, null, after) : updateTask(db, no, after));
      if (isDone(before) !== isDone(after)) updateBlockedCounts(db, id, isDone(after) ? -1 : 1);
      return { log, whose: log };
    },
  };
}

/** Inserts the row of a task and what it needs. SQLite assigns the number if it is null. Returns the number. */
export function insertTask(db: Database, assigned: number | null, state: TaskState): number {
  const { id, spec } = state;
  const needs = JSON.stringify(Array.from(new Set(spec.needs)));
  const sql = `
    insert into task (
      head, phase, not_before, waiting, merging, removed, state, no, id, repository, agent, lane, priority, limits,
      blocked
    ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (
      select count(*) from json_each(?) where not exists (select 1 from task where id = value and phase = 'done')
    )) returning no`;
  const limits = formatTaskLimits(spec);
  const fixed = [id, spec.repository, spec.agent, taskLane(spec), spec.priority, limits, needs] as const;
  const no = db.get(sql, ...toMutableColumns(state), assigned, ...fixed)?.[0] as number;
  db.run("insert into need select value, ? from json_each(?)", no, needs);
  return no;
}

function updateTask(db: Database, no: number, state: TaskState): number {
  const sql = `
    update task set head = ?, phase = ?, not_before = ?, waiting = ?, merging = ?, removed = ?, state = ? where no = ?`;
  db.run(sql, ...toMutableColumns(state), no);
  return no;
}

function toMutableColumns(state: TaskState): Value[] {
  const { head, phase, removed } = state;
  const flags = [isClaimableTask(state), hasOpenMerge(state), removed].map(Number);
  return [head, phase, taskNotBefore(state), ...flags, JSON.stringify(state)];
}

function isDone(state: TaskState | undefined): boolean {
  return state?.phase === "done";
}

/** Counts what blocks each task, after rows were inserted in a different order from that of their creation. */
export function recountBlocked(db: Database): void {
  db.run(`update task set blocked = (
    select count(*) from need left join task as needed on needed.id = need.needed
    where need.task = task.no and needed.phase is not 'done'
  )`);
}

/** The column `blocked` counts the needed tasks that are not done. */
function updateBlockedCounts(db: Database, id: string, difference: number): void {
  db.run("update task set blocked = blocked + ? where no in (select task from need where needed = ?)", difference, id);
}
