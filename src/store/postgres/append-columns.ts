/** Converts the accepted appends of a group to the parameters of the SQL function `append_group_columns`. */
import type { SessionSummary } from "../../domain/index.ts";
import { BODY_SEPARATOR } from "../event-text.ts";
import type { GrownLog } from "./append-plan.ts";
import {
  numberTasks,
  sessionTask,
  toFeedRows,
  toJournalRows,
  toJson,
  toRequestRows,
  toSessionRow,
  toTaskRow,
} from "./append-rows.ts";
import { toStoredText } from "./stored-text.ts";

/** In the order of `APPEND_COLUMNS_PARAMETERS`. `taskNumbers` has the tasks that sessions join. */
export function toAppendColumns(grown: readonly GrownLog[], taskNumbers: ReadonlyMap<string, number>): unknown[] {
  const numbers = numberTasks(grown, taskNumbers);
  const growing: GrownLog[] = [];
  const sessions: object[] = [];
  const tasks: object[] = [];
  for (const log of grown) {
    if (log.before.kind === "task") tasks.push(toTaskRow(log));
    else if (onlyGrows(log)) growing.push(log);
    else sessions.push(toSessionRow(log, sessionTask(log, numbers)));
  }
  return [
    ...toGrowthColumns(growing),
    ...toEventColumns(grown),
    ...toIdColumns(grown),
    ...toFeedColumns(grown, numbers),
    toJson(sessions),
    toJson(tasks),
    ...toJournalRows(grown),
    toRequestRows(grown),
  ];
}

/** Whether no column of the session but its head and its summary changes. */
function onlyGrows({ before, after }: GrownLog): boolean {
  if (before.state === undefined) return false;
  const [old, now] = [before.state as SessionSummary, after as SessionSummary];
  const { agent, cwd, parent, status, task, depth } = old;
  return (
    status === now.status &&
    agent === now.agent &&
    cwd === now.cwd &&
    parent === now.parent &&
    task === now.task &&
    depth === now.depth
  );
}

function toGrowthColumns(growing: GrownLog[]): unknown[] {
  if (growing.length === 0) return [null, null, null, null, null, null];
  growing.sort((a, b) => a.no - b.no);
  const fenced = growing.filter(({ fence }) => fence !== undefined);
  return [
    toNumbers(growing.map(({ no }) => no)),
    toNumbers(growing.map(({ before }) => before.head)),
    toNumbers(growing.map(({ head }) => head)),
    growing.map(({ after }) => JSON.stringify(after)).join(BODY_SEPARATOR),
    fenced.length === 0 ? null : toTexts(fenced.map(({ before }) => before.id)),
    fenced.length === 0 ? null : toNumbers(fenced.map(({ fence }) => fence)),
  ];
}

function toEventColumns(grown: readonly GrownLog[]): unknown[] {
  const logs: number[] = [];
  const seqs: number[] = [];
  const bodies: string[] = [];
  for (const { no, accepted } of grown) {
    for (const prepared of accepted) {
      for (const { seq } of prepared.events) {
        logs.push(no);
        seqs.push(seq);
      }
      for (const body of prepared.bodies) bodies.push(body);
    }
  }
  return [toNumbers(logs), toNumbers(seqs), bodies.join(BODY_SEPARATOR)];
}

function toIdColumns(grown: readonly GrownLog[]): unknown[] {
  const logs: number[] = [];
  const ids: string[] = [];
  const heads: number[] = [];
  for (const { no, accepted } of grown) {
    for (const { append, head } of accepted) {
      logs.push(no);
      ids.push(append.id);
      heads.push(head);
    }
  }
  return [toNumbers(logs), toTexts(ids), toNumbers(heads)];
}

function toFeedColumns(grown: readonly GrownLog[], numbers: ReadonlyMap<string, number>): unknown[] {
  const rows = toFeedRows(grown, numbers);
  if (rows.length === 0) return [null, null, null, null, null];
  return [
    toNumbers(rows.map(({ upto }) => upto)),
    toNumbers(rows.map(({ log }) => log)),
    toNumbers(rows.map(({ whose }) => whose)),
    toNumbers(rows.map(({ head }) => head)),
    toNumbers(rows.map(({ events }) => events)),
  ];
}

/** The text of an array of numbers. */
function toNumbers(values: readonly (number | undefined)[]): string {
  return `{${values.join(",")}}`;
}

/** The text of an array of texts. */
function toTexts(values: readonly string[]): string {
  return `{${values.map(toQuoted).join(",")}}`;
}

function toQuoted(value: string): string {
  const text = toStoredText(value);
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, "\\$&") : text}"`;
}
