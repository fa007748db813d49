/** The row of a task, as its log grows: columns for whatever it is found by, so that nobody reads its state to find it. */
import { applyTask, type TaskEvent, type TaskState } from "../../domain/index.ts";
import { isMerging, isWaiting, laneOf, notBeforeOf } from "../task-facts.ts";
import type { KeptLog } from "./appends.ts";
import { damageIn, decodeNumber, numberColumn, textColumn } from "./columns.ts";
import type { Database, Value } from "./database.ts";
import { taskStateOf } from "./records.ts";

export function loadTask(db: Database, id: string): KeptLog {
  const row = db.get(`select no, ${numberColumn("head")}, ${textColumn("state")} from task where id = ?`, id);
  const no = decodeNumber(row?.[0]);
  const head = row === undefined ? 0 : decodeNumber(row[1]);
  const before = row && taskStateOf(db, id, row[2]);
  if (head === undefined || head !== (before?.head ?? 0)) throw damageIn(db.path, `the head of task ${id}`);
  return {
    no: no === undefined ? undefined : -no,
    head,
    keep(events) {
      const after = (events as readonly TaskEvent[]).reduce(applyTask, before as TaskState);
      const log = -(no === undefined ? insertTask(db, after) : updateTask(db, no, after));
      if (isDone(before) !== isDone(after)) tellDependents(db, id, isDone(after) ? -1 : 1);
      return { log, whose: log };
    },
  };
}

function insertTask(db: Database, state: TaskState): number {
  const { id, spec } = state;
  const needs = JSON.stringify(Array.from(new Set(spec.needs)));
  const sql = `
    insert into task (
      head, phase, not_before, waiting, merging, removed, state, id, repository, agent, lane, priority, limits, blocked
    ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (
      select count(*) from json_each(?) where not exists (select 1 from task where id = value and phase = 'done')
    )) returning no`;
  const limits = JSON.stringify(spec.limits);
  const fixed = [id, spec.repository, spec.agent, laneOf(spec), spec.priority, limits, needs] as const;
  const no = db.get(sql, ...changing(state), ...fixed)?.[0] as number;
  db.run("insert into need select value, ? from json_each(?)", no, needs);
  return no;
}

function updateTask(db: Database, no: number, state: TaskState): number {
  const sql = `
    update task set head = ?, phase = ?, not_before = ?, waiting = ?, merging = ?, removed = ?, state = ? where no = ?`;
  db.run(sql, ...changing(state), no);
  return no;
}

function changing(state: TaskState): Value[] {
  const { head, phase, removed } = state;
  const flags = [isWaiting(state), isMerging(state), removed].map(Number);
  return [head, phase, notBeforeOf(state), ...flags, JSON.stringify(state)];
}

function isDone(state: TaskState | undefined): boolean {
  return state?.phase === "done";
}

/** `blocked` is how many of the tasks that it needs are not done. */
function tellDependents(db: Database, id: string, more: number): void {
  db.run("update task set blocked = blocked + ? where no in (select task from need where needed = ?)", more, id);
}
