/** Reads pages of a log, with one query and one parse for many events. A large page takes several slices. */
import {
  isRookeryError,
  RookeryError,
  type EventPage,
  type LogEvent,
  type ReadQuery,
  type SessionEvent,
  type TaskEvent,
  type TaskRead,
} from "../../domain/index.ts";
import type { LogKind } from "../admission.ts";
import { clampBytes, fitRange, toEventRange, type EventRange } from "../page.ts";
import { toDamageError, decodeNumber, decodeText, numberColumn, DAMAGE_ADVICE, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";

/** Limits of one slice, which blocks the event loop for about 2 ms. A single event may be larger. */
const MAX_SLICE_EVENTS = 1_000;
const MAX_SLICE_BYTES = 256 * 1024;

/** Runs a short database read in the next free slice of the event loop. */
export type ReadPiece = <T>(work: () => T) => Promise<T>;

export async function readPage(db: Database, query: ReadQuery, readPiece: ReadPiece): Promise<EventPage> {
  const read = await readLog(db, { kind: "session", id: query.sessionId, query }, readPiece);
  const { log, events } = read as { log: LocatedLog; events: SessionEvent[] };
  for (const event of events) event.sessionId = log.id;
  return { events: query.order === "newest_first" ? events.reverse() : events, head: log.head };
}

export async function readTaskPage(
  db: Database,
  query: TaskRead,
  readPiece: ReadPiece,
): Promise<{ events: TaskEvent[]; head: number }> {
  const read = await readLog(db, { kind: "task", id: query.taskId, query }, readPiece);
  const { log, events } = read as { log: LocatedLog; events: TaskEvent[] };
  for (const event of events) event.taskId = log.id;
  return { events, head: log.head };
}

interface LogQuery {
  readonly kind: LogKind;
  readonly id: string;
  readonly query: Omit<ReadQuery, "sessionId">;
}

/** Oldest first. Committed events do not change between slices. Rejects if the log is deleted meanwhile. */
async function readLog(
  db: Database,
  { kind, id, query }: LogQuery,
  readPiece: ReadPiece,
): Promise<{ log: LocatedLog; events: LogEvent[] }> {
  const { log, range, events } = await readPiece(() => {
    const located = locateLog(db, kind, id, query);
    return { ...located, events: readSlice(db, located.log, located.range) };
  });
  for (let next = range.first + events.length; next <= range.last; next = range.first + events.length) {
    const slice = await readPiece(() => readSlice(db, log, { first: next, last: range.last }));
    for (const event of slice) events.push(event);
  }
  return { log, events };
}

/** Reads the first slice of the range. */
function readSlice(db: Database, log: LocatedLog, { first, last }: EventRange): LogEvent[] {
  const longest = { first, last: Math.min(last, first + MAX_SLICE_EVENTS - 1) };
  if (isEmptyRange(longest)) return [];
  const bytes = (range: EventRange) => sumBodyBytes(db, log.no, range.first, range.last);
  const slice = reportDamage(db, log, longest, () => fitRange(longest, "oldest_first", bytes, MAX_SLICE_BYTES));
  return readRange(db, log, slice);
}

/** A log at the time of its lookup. */
export interface LocatedLog {
  readonly kind: LogKind;
  readonly id: string;
  readonly no: number;
  readonly head: number;
}

/** Looks up a log and the part of it that fits into a page. Throws `session_not_found` or `task_not_found`. */
export function locateLog(
  db: Database,
  kind: LogKind,
  id: string,
  query: Omit<ReadQuery, "sessionId">,
): { log: LocatedLog; range: EventRange } {
  const row = db.get(LOOK_UP_SQL[kind], id);
  if (row === undefined) throw toLogNotFound(kind, id);
  const [no, head] = row.map(decodeNumber);
  if (no === undefined || head === undefined) throw toDamageError(db.path, `the head of ${kind} ${id}`);
  const log = { kind, id, no, head };
  const requested = toEventRange(query, head);
  const range = reportDamage(db, log, requested, () =>
    fitRange(
      requested,
      query.order,
      ({ first, last }) => sumBodyBytes(db, no, first, last),
      clampBytes(query.maxBytes),
    ),
  );
  return { log, range };
}

export function isEmptyRange({ first, last }: EventRange): boolean {
  return last < first;
}

/** Undefined if the log does not exist. */
export function readLogHead(db: Database, kind: LogKind, id: string): number | undefined {
  const row = db.get(LOOK_UP_SQL[kind], id);
  const head = decodeNumber(row?.[1]);
  if (row !== undefined && head === undefined) throw toDamageError(db.path, `the head of ${kind} ${id}`);
  return head;
}

/** The log number of a task is its negated row number. */
const LOOK_UP_SQL: Record<LogKind, string> = {
  session: `select no, ${numberColumn("head")} from session where id = ?`,
  task: `select -no, ${numberColumn("head")} from task where id = ?`,
};

/**
 * Selects the bodies of a range, oldest first. `limit -1` prevents SQLite from flattening the subquery, so group_concat
 * receives the rows in order. Each body also holds its seq, which detects a wrong order or a gap. The query looks up the
 * log again, because another process may have deleted it and reused its number.
 */
export const BODIES_SQL: Record<LogKind, string> = {
  session: buildBodiesSql("select no from session where id = ?"),
  task: buildBodiesSql("select -no from task where id = ?"),
};

function buildBodiesSql(log: string): string {
  return `select body from event where session = (${log}) and seq between ? and ? order by seq limit -1`;
}

export function sumBodyBytes(db: Database, no: number, first: number, last: number): number {
  const sql = "select sum(octet_length(body)) from event where session = ? and seq between ? and ?";
  return decodeNumber(db.get(sql, no, first, last)?.[0]) ?? 0;
}

function readRange(db: Database, log: LocatedLog, range: EventRange): LogEvent[] {
  const sql = `select ${textColumn("'[' || group_concat(body) || ']'")} from (${BODIES_SQL[log.kind]})`;
  const row = reportDamage(db, log, range, () => db.get(sql, log.id, range.first, range.last));
  const text = decodeText(row?.[0]);
  const events = text === undefined ? undefined : parseEvents(text);
  if (events?.length !== range.last - range.first + 1) throw toReadError(db, log, range);
  let seq = range.first;
  for (const event of events) {
    if (!isEvent(event, seq)) throw toDamagedEventError(db, log, seq);
    seq += 1;
  }
  return events as LogEvent[];
}

/** A cheap check, because it runs for every event of every page. */
function isEvent(event: Partial<LogEvent> | null | undefined, seq: number): boolean {
  return event?.seq === seq && typeof event.type === "string" && typeof event.at === "string";
}

function parseEvents(text: string): (Partial<LogEvent> | null | undefined)[] | undefined {
  try {
    return JSON.parse(text) as (Partial<LogEvent> | null)[];
  } catch {
    return undefined; // `toReadError` finds the damaged event
  }
}

/** Runs the read. If SQLite reports a damaged page, throws an error that names the first unreadable event. */
export function reportDamage<T>(db: Database, log: LocatedLog, range: EventRange, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isRookeryError(error, "store_corrupt") ? toReadError(db, log, range, error) : error;
  }
}

/** The error for a range that cannot be read: not found if the log was deleted, otherwise the damage. */
export function toReadError(db: Database, log: LocatedLog, range: EventRange, error?: RookeryError): RookeryError {
  const damage = findDamagedEvent(db, log, range) ?? error ?? toDamagedEventError(db, log, range.first);
  return db.get(LOOK_UP_SQL[log.kind], log.id) === undefined ? toLogNotFound(log.kind, log.id) : damage;
}

/** The error for the first missing or damaged event of the range. Undefined if all are readable. */
export function findDamagedEvent(db: Database, log: LocatedLog, { first, last }: EventRange): RookeryError | undefined {
  const sql = `select ${textColumn("body")} from event where session = ? and seq = ?`;
  for (let seq = first; seq <= last; seq += 1) {
    try {
      const body = decodeText(db.get(sql, log.no, seq)?.[0]);
      const events = body === undefined ? undefined : parseEvents(`[${body}]`);
      if (events?.length !== 1 || !isEvent(events[0], seq)) return toDamagedEventError(db, log, seq);
    } catch (error) {
      if (isRookeryError(error, "store_corrupt")) return toUnreadableEventError(db, log, seq, error);
      throw error;
    }
  }
  return undefined;
}

export function toLogNotFound(kind: LogKind, id: string): RookeryError {
  return new RookeryError(`${kind}_not_found`, `no ${kind} ${id}: list ${kind}s to find its id`);
}

function toDamagedEventError(db: Database, { kind, id }: LocatedLog, seq: number): RookeryError {
  return toDamageError(db.path, `event ${seq} of ${kind} ${id}`);
}

function toUnreadableEventError(
  db: Database,
  { kind, id }: LocatedLog,
  seq: number,
  cause: RookeryError,
): RookeryError {
  const what = `cannot read event ${seq} of ${kind} ${id}, because ${db.path} is damaged`;
  return new RookeryError("store_corrupt", `${what}: ${DAMAGE_ADVICE}`, { cause });
}
