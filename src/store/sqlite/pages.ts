/** Reading pages of the log: one query and one parse for many events. */
import { RookeryError, type EventPage, type ReadQuery, type SessionEvent } from "../../domain/index.ts";
import { fitRange, rangeOf, type Range } from "../page.ts";
import type { Database } from "./database.ts";

export function readPage(db: Database, query: ReadQuery): EventPage {
  const { sessionId, order } = query;
  const [no, head] = (db.get("select no, head from session where id = ?", sessionId) ?? []) as number[];
  if (no === undefined || head === undefined) throw sessionNotFound(sessionId);
  const range = fitRange(rangeOf(query, head), order, ({ first, last }) => bytesOf(db, no, first, last));
  const events = range.last < range.first ? [] : readRange(db, sessionId, no, range);
  return { events: order === "newest_first" ? events.reverse() : events, head };
}

/** Undefined where there is no such session. */
export function headOf(db: Database, sessionId: string): number | undefined {
  return db.get("select head from session where id = ?", sessionId)?.[0] as number | undefined;
}

export function headsOf(db: Database, sessionIds: readonly string[]): Map<string, number> {
  const sql = "select id, head from session where id in (select value from json_each(?))";
  return new Map(db.all(sql, JSON.stringify(sessionIds)) as [string, number][]);
}

function bytesOf(db: Database, no: number, first: number, last: number): number {
  const sql = "select sum(octet_length(body)) from event where session = ? and seq between ? and ?";
  return db.get(sql, no, first, last)?.[0] as number;
}

/**
 * The inner query fixes the order: with its limit it cannot be flattened away, and group_concat takes rows as they
 * come. Each event also says its own seq, so that a wrong order or a hole is an error and never a wrong answer.
 * The session is looked up again: another process may have deleted it since, and another session may have its number.
 */
const RANGE = `
  select '[' || group_concat(body) || ']'
  from (
    select body from event
    where session = (select no from session where id = ?) and seq between ? and ?
    order by seq limit -1
  )`;

function readRange(db: Database, sessionId: string, no: number, { first, last }: Range): SessionEvent[] {
  const text = db.get(RANGE, sessionId, first, last)?.[0];
  const events = typeof text === "string" ? parsed(text) : undefined;
  if (events?.length !== last - first + 1) {
    const damage = findDamage(db, sessionId, no, { first, last });
    throw headOf(db, sessionId) === undefined ? sessionNotFound(sessionId) : damage;
  }
  let seq = first;
  for (const event of events) {
    if (event?.seq !== seq) throw damaged(db, sessionId, seq);
    event.sessionId = sessionId;
    seq += 1;
  }
  return events as SessionEvent[];
}

function parsed(text: string): (SessionEvent | undefined)[] | undefined {
  try {
    return JSON.parse(text) as SessionEvent[];
  } catch {
    return undefined; // findDamage reads again, one by one, and says which it was
  }
}

function findDamage(db: Database, sessionId: string, no: number, { first, last }: Range): RookeryError {
  for (let seq = first; seq <= last; seq += 1) {
    const body = db.get("select body from event where session = ? and seq = ?", no, seq)?.[0];
    const events = typeof body === "string" ? parsed(`[${body}]`) : undefined;
    if (events?.length !== 1 || events[0]?.seq !== seq) return damaged(db, sessionId, seq);
  }
  return damaged(db, sessionId, first);
}

export function sessionNotFound(sessionId: string): RookeryError {
  return new RookeryError("session_not_found", `no session ${sessionId}`);
}

function damaged(db: Database, sessionId: string, seq: number): RookeryError {
  const what = `event ${seq} of session ${sessionId} is missing or is not an event`;
  return new RookeryError("log_corrupt", `${what} in ${db.path}: restore a copy of the file`);
}
