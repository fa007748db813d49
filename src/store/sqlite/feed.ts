/** The feed: all events of all logs in commit order, each with a position. */
import { isRookeryError, type FeedText, type RookeryError } from "../../domain/index.ts";
import { clampBytes, fitRange } from "../page.ts";
import { completeEventText, eventSuffix, hasSeq } from "../event-text.ts";
import type { LogGrowth } from "../log-watches.ts";
import { toDamageError, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database, Row } from "./database.ts";
import { findDamagedEvent, toLogNotFound, type LocatedLog } from "./pages.ts";
import { feedOwner } from "./log-row.ts";
import { concatBodiesSql, splitBodies } from "./event-texts.ts";

/** The events that one commit added to one log. */
interface FeedCommit {
  readonly log: number;
  readonly whose: number;
  readonly head: number;
  readonly events: number;
}

export function writeFeed(db: Database, { log, whose, head, events }: FeedCommit): void {
  const sql = "insert into feed values (ifnull((select max(through) from feed), 0) + ?4, ?1, ?2, ?3, ?4)";
  db.run(sql, log, whose, head, events);
}

/** If the session has the last position, an empty entry keeps it, so that no position is assigned twice. */
export function removeFromFeed(db: Database, sessionId: string): void {
  const row = db.get(`select no, ${numberColumn("task")} from session where id = ?`, sessionId);
  const log = decodeNumber(row?.[0]);
  if (log === undefined) return;
  const task = decodeNumber(row?.[1]) ?? null;
  const last = lastPosition(db);
  db.run("delete from feed where log = ? and whose = ?", log, feedOwner(log, task));
  if (lastPosition(db) === last) return;
  db.run("delete from feed where whose = 0");
  db.run("insert into feed values (?, 0, 0, 0, 0)", last);
}

export function lastPosition(db: Database): number {
  return decodeNumber(db.get("select max(through) from feed")?.[0]) ?? 0;
}

/** The logs that have grown after a position, with their heads, and the last position. Throws if an id is damaged. */
export function readGrownLogs(db: Database, after: number): { logs: LogGrowth[]; position: number } {
  const rows = db.all(GROWN_LOGS, after);
  const logs = rows.flatMap((row): LogGrowth[] => {
    const [no = 0, head] = [decodeNumber(row[1]), decodeNumber(row[2])];
    if (no === 0) return []; // an empty entry, which only keeps a position
    const id = decodeText(row[3]);
    if (head === undefined || id === undefined) throw toDamageError(db.path, "the list of events");
    return [{ kind: no > 0 ? "session" : "task", id, head }];
  });
  return { logs, position: rows.reduce((last, row) => Math.max(last, decodeNumber(row[0]) ?? 0), after) };
}

const LOG_ID = `case when log > 0 then (select id from session where no = log)
  else (select id from task where no = -log) end`;
const GROWN_LOGS = `
  select max(through), ${numberColumn("log")}, max(${numberColumn("head")}), ${textColumn(LOG_ID)}
  from feed where through > ? group by log`;

/** Enough entries for most pages. If they do not fill the page, a second query reads as many as could be needed. */
const FEW_ENTRIES = 32;

export interface FeedRead {
  readonly after: number;
  readonly task?: string | undefined;
  readonly limit: number;
  /** Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

/** Reads the page after the cursor, and the last position of the feed. Throws `task_not_found`. */
export function readFeedPage(db: Database, query: FeedRead): { events: FeedText[]; head: number } {
  const { after, task, limit } = query;
  const maxBytes = clampBytes(query.maxBytes);
  return db.snapshot(() => {
    const whose = task === undefined ? [] : [findTaskLog(db, task)];
    const sql = whose.length === 0 ? EVERYTHING : OF_TASK;
    const readRanges = (rows: number) =>
      toFeedRanges(
        db.all(sql.entries, after, rows, ...whose).map((row) => decodeFeedEntry(db, row)),
        after,
        limit,
      );
    const few = readRanges(Math.min(FEW_ENTRIES, limit));
    const ranges = few.length < FEW_ENTRIES || countEvents(few) >= limit ? few : readRanges(limit);
    const events = reportFeedDamage(db, ranges, () => {
      const countBytes = (count: number) =>
        decodeNumber(db.get(sql.bytes, ...toFeedBounds(after, limitEvents(ranges, count)), ...whose)?.[0]) ?? 0;
      const all = { first: 1, last: countEvents(ranges) };
      const page = limitEvents(ranges, fitRange(all, "oldest_first", ({ last }) => countBytes(last), maxBytes).last);
      const bodies =
        page.length === 0 ? [] : splitBodies(db.get(sql.bodies, ...toFeedBounds(after, page), ...whose)?.[0]);
      return toFeedTexts(page, bodies);
    });
    return { events, head: lastPosition(db) };
  });
}

/** Consecutive events of one log with consecutive positions: a whole entry or a part of it. */
interface FeedRange {
  readonly log: LocatedLog;
  /** The last position of the entry. */
  readonly through: number;
  /** The position of the first event. */
  readonly position: number;
  readonly first: number;
  readonly last: number;
}

type EntryRow = readonly [through: number, head: number, events: number, log: number, id: string];

const EVERYTHING = buildFeedQueries("");
/** Uses the index on `whose`, which is ordered by position. */
const OF_TASK = buildFeedQueries("and whose = ");

function buildFeedQueries(whose: string): { entries: string; bytes: string; bodies: string } {
  const only = (parameter: string) => (whose === "" ? "" : whose + parameter);
  const events = `
    feed cross join event on event.session = feed.log
      and seq > max(feed.head - events, ?1 - through + feed.head)
      and seq <= min(feed.head, ?2 - through + feed.head)
    where through > ?1 and through <= ?3 ${only("?4")}`;
  return {
    entries: `
      select through, ${numberColumn("head")}, ${numberColumn("events")}, ${numberColumn("log")}, ${textColumn(LOG_ID)}
      from feed where through > ?1 and events > 0 ${only("?3")} order by through limit ?2`,
    bytes: `select sum(octet_length(body)) from ${events}`,
    bodies: concatBodiesSql(`select body from ${events} order by through, seq limit -1`),
  };
}

function findTaskLog(db: Database, taskId: string): number {
  const row = db.get("select -no from task where id = ?", taskId);
  if (row === undefined) throw toLogNotFound("task", taskId);
  return decodeNumber(row[0]) ?? 0;
}

function decodeFeedEntry(db: Database, row: Row): EntryRow {
  const [through = 0, head, events, log] = row.slice(0, 4).map(decodeNumber);
  const id = decodeText(row[4]);
  if (head !== undefined && events !== undefined && log !== undefined && id !== undefined) {
    return [through, head, events, log, id];
  }
  throw toDamageError(db.path, `the entry at position ${through} of the feed`);
}

function toFeedRanges(rows: readonly EntryRow[], after: number, limit: number): FeedRange[] {
  const ranges = rows.map(([through, head, events, no, id]): FeedRange => {
    const count = Math.min(events, through - after);
    const log: LocatedLog = { kind: no > 0 ? "session" : "task", id, no, head };
    return { log, through, position: through - count + 1, first: head - count + 1, last: head };
  });
  return limitEvents(ranges, limit);
}

function countEvents(ranges: readonly FeedRange[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** Truncates the ranges to `count` events. */
function limitEvents(ranges: readonly FeedRange[], count: number): FeedRange[] {
  const limited: FeedRange[] = [];
  let remaining = count;
  for (const range of ranges) {
    if (remaining <= 0) break;
    const last = Math.min(range.last, range.first + remaining - 1);
    limited.push({ ...range, last });
    remaining -= last - range.first + 1;
  }
  return limited;
}

/** The SQL parameters: the cursor, the last position, and the entry that holds it. */
function toFeedBounds(after: number, ranges: readonly FeedRange[]): [number, number, number] {
  const end = ranges.at(-1);
  return end === undefined ? [after, after, after] : [after, end.position + end.last - end.first, end.through];
}

/** Runs the read. Throws an error that names the first damaged event if an event is missing or unreadable. */
function reportFeedDamage(db: Database, ranges: readonly FeedRange[], read: () => FeedText[] | undefined): FeedText[] {
  let readError: RookeryError | undefined;
  try {
    const texts = read();
    if (texts !== undefined) return texts;
  } catch (error) {
    if (!isRookeryError(error, "store_corrupt")) throw error;
    readError = error;
  }
  for (const { log, first, last } of ranges) {
    const damage = findDamagedEvent(db, log, { first, last });
    if (damage !== undefined) throw damage;
  }
  throw readError ?? toDamageError(db.path, "a page of the feed");
}

/** Undefined if the bodies do not match the ranges. */
function toFeedTexts(ranges: readonly FeedRange[], bodies: readonly string[]): FeedText[] | undefined {
  const texts: FeedText[] = [];
  for (const { log, position, first, last } of ranges) {
    const suffix = eventSuffix(log.kind, log.id);
    for (let seq = first; seq <= last; seq += 1) {
      const body = bodies[texts.length];
      if (body === undefined || !hasSeq(body, seq)) return undefined;
      texts.push({ position: position + seq - first, text: completeEventText(body, suffix) });
    }
  }
  return texts;
}
