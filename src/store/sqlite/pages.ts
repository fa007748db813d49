/** Reading pages of a log: one query and one parse for many events, and for a large page several. */
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
import { clampBytes, fitRange, rangeOf, type Range } from "../page.ts";
import { damageIn, decodeNumber, decodeText, numberColumn, DAMAGE_ADVICE, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";

/** What is read and parsed in one piece while others wait: some 2 ms of work, unless one event alone is larger. */
const SLICE_EVENTS = 1_000;
const SLICE_BYTES = 256 * 1024;

/** Runs a piece of work on the database when the event loop has time for it. */
export type ReadPiece = <T>(work: () => T) => Promise<T>;

export async function readPage(db: Database, query: ReadQuery, readPiece: ReadPiece): Promise<EventPage> {
  const read = await readLog(db, { kind: "session", id: query.sessionId, query }, readPiece);
  const { log, events } = read as { log: Located; events: SessionEvent[] };
  for (const event of events) event.sessionId = log.id;
  return { events: query.order === "newest_first" ? events.reverse() : events, head: log.head };
}

export async function readTaskPage(
  db: Database,
  query: TaskRead,
  readPiece: ReadPiece,
): Promise<{ events: TaskEvent[]; head: number }> {
  const read = await readLog(db, { kind: "task", id: query.taskId, query }, readPiece);
  const { log, events } = read as { log: Located; events: TaskEvent[] };
  for (const event of events) event.taskId = log.id;
  return { events, head: log.head };
}

interface LogQuery {
  readonly kind: LogKind;
  readonly id: string;
  readonly query: Omit<ReadQuery, "sessionId">;
}

/** Oldest first. What was committed does not change between two pieces, unless the log is deleted: then it is not found. */
async function readLog(
  db: Database,
  { kind, id, query }: LogQuery,
  readPiece: ReadPiece,
): Promise<{ log: Located; events: LogEvent[] }> {
  const { log, range, events } = await readPiece(() => {
    const located = locate(db, kind, id, query);
    return { ...located, events: readSlice(db, located.log, located.range) };
  });
  for (let next = range.first + events.length; next <= range.last; next = range.first + events.length) {
    const slice = await readPiece(() => readSlice(db, log, { first: next, last: range.last }));
    for (const event of slice) events.push(event);
  }
  return { log, events };
}

/** The beginning of the range. */
function readSlice(db: Database, log: Located, { first, last }: Range): LogEvent[] {
  const most = { first, last: Math.min(last, first + SLICE_EVENTS - 1) };
  if (isEmpty(most)) return [];
  const bytes = (range: Range) => bytesOf(db, log.no, range.first, range.last);
  const slice = namingDamage(db, log, most, () => fitRange(most, "oldest_first", bytes, SLICE_BYTES));
  return readRange(db, log, slice);
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
  const row = db.get(LOOK_UP[kind], id);
  if (row === undefined) throw notFound(kind, id);
  const [no, head] = row.map(decodeNumber);
  if (no === undefined || head === undefined) throw damageIn(db.path, `the head of ${kind} ${id}`);
  const log = { kind, id, no, head };
  const asked = rangeOf(query, head);
  const range = namingDamage(db, log, asked, () =>
    fitRange(asked, query.order, ({ first, last }) => bytesOf(db, no, first, last), clampBytes(query.maxBytes)),
  );
  return { log, range };
}

export function isEmpty({ first, last }: Range): boolean {
  return last < first;
}

/** Undefined where there is no such session. */
export function headOf(db: Database, sessionId: string): number | undefined {
  const row = db.get(`select ${numberColumn("head")} from session where id = ?`, sessionId);
  const head = decodeNumber(row?.[0]);
  if (row !== undefined && head === undefined) throw damageIn(db.path, `the head of session ${sessionId}`);
  return head;
}

/** Sessions that are gone or damaged are left out. */
export function headsOf(db: Database, sessionIds: readonly string[]): Map<string, number> {
  const heads = new Map<string, number>();
  for (const [idCell, headCell] of db.all(HEADS, JSON.stringify(sessionIds))) {
    const [id, head] = [decodeText(idCell), decodeNumber(headCell)];
    if (id !== undefined && head !== undefined) heads.set(id, head);
  }
  return heads;
}

const HEADS = `
  select ${textColumn("id")}, ${numberColumn("head")} from session where id in (select value from json_each(?))`;

/** A task's log has the negative of its number. */
const LOOK_UP: Record<LogKind, string> = {
  session: `select no, ${numberColumn("head")} from session where id = ?`,
  task: `select -no, ${numberColumn("head")} from task where id = ?`,
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

export function bytesOf(db: Database, no: number, first: number, last: number): number {
  const sql = "select sum(octet_length(body)) from event where session = ? and seq between ? and ?";
  return decodeNumber(db.get(sql, no, first, last)?.[0]) ?? 0;
}

function readRange(db: Database, log: Located, range: Range): LogEvent[] {
  const sql = `select ${textColumn("'[' || group_concat(body) || ']'")} from (${BODIES[log.kind]})`;
  const row = namingDamage(db, log, range, () => db.get(sql, log.id, range.first, range.last));
  const text = decodeText(row?.[0]);
  const events = text === undefined ? undefined : parsed(text);
  if (events?.length !== range.last - range.first + 1) throw whyNot(db, log, range);
  let seq = range.first;
  for (const event of events) {
    if (!isEvent(event, seq)) throw damaged(db, log, seq);
    seq += 1;
  }
  return events as LogEvent[];
}

/** As cheap as it must be for each event of each page. */
function isEvent(event: Partial<LogEvent> | null | undefined, seq: number): boolean {
  return event?.seq === seq && typeof event.type === "string" && typeof event.at === "string";
}

function parsed(text: string): (Partial<LogEvent> | null | undefined)[] | undefined {
  try {
    return JSON.parse(text) as (Partial<LogEvent> | null)[];
  } catch {
    return undefined; // whyNot reads again, one by one, and says which it was
  }
}

/** If SQLite meets a damaged page, the error names the first event that cannot be read. */
export function namingDamage<T>(db: Database, log: Located, range: Range, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isRookeryError(error, "store_corrupt") ? whyNot(db, log, range, error) : error;
  }
}

/** What is wrong with a range that could not be read. */
export function whyNot(db: Database, log: Located, range: Range, error?: RookeryError): RookeryError {
  const damage = findDamage(db, log, range) ?? error ?? damaged(db, log, range.first);
  return db.get(LOOK_UP[log.kind], log.id) === undefined ? notFound(log.kind, log.id) : damage;
}

/** The first event of the range that is missing or damaged. */
export function findDamage(db: Database, log: Located, { first, last }: Range): RookeryError | undefined {
  const sql = `select ${textColumn("body")} from event where session = ? and seq = ?`;
  for (let seq = first; seq <= last; seq += 1) {
    try {
      const body = decodeText(db.get(sql, log.no, seq)?.[0]);
      const events = body === undefined ? undefined : parsed(`[${body}]`);
      if (events?.length !== 1 || !isEvent(events[0], seq)) return damaged(db, log, seq);
    } catch (error) {
      if (isRookeryError(error, "store_corrupt")) return unreadable(db, log, seq, error);
      throw error;
    }
  }
  return undefined;
}

export function notFound(kind: LogKind, id: string): RookeryError {
  return new RookeryError(`${kind}_not_found`, `no ${kind} ${id}`);
}

function damaged(db: Database, { kind, id }: Located, seq: number): RookeryError {
  return damageIn(db.path, `event ${seq} of ${kind} ${id}`);
}

function unreadable(db: Database, { kind, id }: Located, seq: number, cause: RookeryError): RookeryError {
  const what = `event ${seq} of ${kind} ${id} cannot be read, because ${db.path} is damaged`;
  return new RookeryError("store_corrupt", `${what}: ${DAMAGE_ADVICE}`, { cause });
}
