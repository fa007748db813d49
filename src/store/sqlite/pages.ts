/** Reading pages of a log: one query and one parse for many events. */
import {
  RookeryError,
  type EventPage,
  type LogEvent,
  type ReadQuery,
  type SessionEvent,
  type TaskEvent,
  type TaskRead,
} from "../../domain/index.ts";
import type { LogKind } from "../admission.ts";
import { fitRange, rangeOf, type Range } from "../page.ts";
import type { Database } from "./database.ts";

export function readPage(db: Database, query: ReadQuery): EventPage {
  const { log, range } = locate(db, "session", query.sessionId, query);
  const events = isEmpty(range) ? [] : (readRange(db, log, range) as SessionEvent[]);
  for (const event of events) event.sessionId = log.id;
  return { events: query.order === "newest_first" ? events.reverse() : events, head: log.head };
}

export function readTaskPage(db: Database, query: TaskRead): { events: TaskEvent[]; head: number } {
  const { log, range } = locate(db, "task", query.taskId, query);
  const events = isEmpty(range) ? [] : (readRange(db, log, range) as TaskEvent[]);
  for (const event of events) event.taskId = log.id;
  return { events, head: log.head };
}

/** A log as it was when it was looked up. */
export interface Located {
  readonly kind: LogKind;
  readonly id: string;
  readonly no: number;
  readonly head: number;
}

/** Where the log is, and what of it fits into a page. Rejects with `session_not_found` or `task_not_found`. */
export function locate(
  db: Database,
  kind: LogKind,
  id: string,
  query: Omit<ReadQuery, "sessionId">,
): { log: Located; range: Range } {
  const [no, head] = (db.get(LOOK_UP[kind], id) ?? []) as number[];
  if (no === undefined || head === undefined) throw notFound(kind, id);
  const range = fitRange(rangeOf(query, head), query.order, ({ first, last }) => bytesOf(db, no, first, last));
  return { log: { kind, id, no, head }, range };
}

export function isEmpty({ first, last }: Range): boolean {
  return last < first;
}

/** Undefined where there is no such session. */
export function headOf(db: Database, sessionId: string): number | undefined {
  return db.get("select head from session where id = ?", sessionId)?.[0] as number | undefined;
}

export function headsOf(db: Database, sessionIds: readonly string[]): Map<string, number> {
  const sql = "select id, head from session where id in (select value from json_each(?))";
  return new Map(db.all(sql, JSON.stringify(sessionIds)) as [string, number][]);
}

/** A task's log has the negative of its number. */
const LOOK_UP: Record<LogKind, string> = {
  session: "select no, head from session where id = ?",
  task: "select -no, head from task where id = ?",
};

/**
 * The bodies of a range, oldest first. With its limit it cannot be flattened away, and group_concat takes rows as they
 * come. Each event also says its own seq, so that a wrong order or a hole is an error and never a wrong answer.
 * The log is looked up again: another process may have deleted it since, and another session may have its number.
 */
export const BODIES: Record<LogKind, string> = {
  session: bodiesOf("select no from session where id = ?"),
  task: bodiesOf("select -no from task where id = ?"),
};

function bodiesOf(log: string): string {
  return `select body from event where session = (${log}) and seq between ? and ? order by seq limit -1`;
}

function bytesOf(db: Database, no: number, first: number, last: number): number {
  const sql = "select sum(octet_length(body)) from event where session = ? and seq between ? and ?";
  return db.get(sql, no, first, last)?.[0] as number;
}

function readRange(db: Database, log: Located, range: Range): LogEvent[] {
  const sql = `select '[' || group_concat(body) || ']' from (${BODIES[log.kind]})`;
  const text = db.get(sql, log.id, range.first, range.last)?.[0];
  const events = typeof text === "string" ? parsed(text) : undefined;
  if (events?.length !== range.last - range.first + 1) throw whyNot(db, log, range);
  let seq = range.first;
  for (const event of events) {
    if (event?.seq !== seq) throw damaged(db, log, seq);
    seq += 1;
  }
  return events as LogEvent[];
}

function parsed(text: string): (LogEvent | undefined)[] | undefined {
  try {
    return JSON.parse(text) as LogEvent[];
  } catch {
    return undefined; // whyNot reads again, one by one, and says which it was
  }
}

/** What is wrong with a range that could not be read. */
export function whyNot(db: Database, log: Located, range: Range): RookeryError {
  const damage = findDamage(db, log, range);
  return db.get(LOOK_UP[log.kind], log.id) === undefined ? notFound(log.kind, log.id) : damage;
}

function findDamage(db: Database, log: Located, { first, last }: Range): RookeryError {
  for (let seq = first; seq <= last; seq += 1) {
    const body = db.get("select body from event where session = ? and seq = ?", log.no, seq)?.[0];
    const events = typeof body === "string" ? parsed(`[${body}]`) : undefined;
    if (events?.length !== 1 || events[0]?.seq !== seq) return damaged(db, log, seq);
  }
  return damaged(db, log, first);
}

export function notFound(kind: LogKind, id: string): RookeryError {
  return new RookeryError(`${kind}_not_found`, `no ${kind} ${id}`);
}

function damaged(db: Database, { kind, id }: Located, seq: number): RookeryError {
  const what = `event ${seq} of ${kind} ${id} is missing or is not an event`;
  return new RookeryError("log_corrupt", `${what} in ${db.path}: restore a copy of the file`);
}
