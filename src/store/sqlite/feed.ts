/** The feed: every event of every log by its position in the order of the commits. */
import { isRookeryError, type FeedText, type RookeryError } from "../../domain/index.ts";
import { clampBytes, fitRange } from "../page.ts";
import { completed, endingOf } from "../text.ts";
import { damageIn, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database, Row } from "./database.ts";
import { findDamage, notFound, type Located } from "./pages.ts";
import { whoseIs } from "./session-log.ts";
import { isBodyOf, joinedBodies, takeApart } from "./texts.ts";

/** What was committed together of one log. */
interface Entry {
  readonly log: number;
  readonly whose: number;
  readonly head: number;
  readonly events: number;
}

export function writeFeed(db: Database, { log, whose, head, events }: Entry): void {
  const sql = "insert into feed values (ifnull((select max(through) from feed), 0) + ?4, ?1, ?2, ?3, ?4)";
  db.run(sql, log, whose, head, events);
}

/** Where its entry was the last, an empty one stays, so that no position comes twice. */
export function forgetInFeed(db: Database, sessionId: string): void {
  const row = db.get(`select no, ${numberColumn("task")} from session where id = ?`, sessionId);
  const log = decodeNumber(row?.[0]);
  if (log === undefined) return;
  const task = decodeNumber(row?.[1]) ?? null;
  const last = lastPosition(db);
  db.run("delete from feed where log = ? and whose = ?", log, whoseIs(log, task));
  if (lastPosition(db) === last) return;
  db.run("delete from feed where whose = 0");
  db.run("insert into feed values (?, 0, 0, 0, 0)", last);
}

export function lastPosition(db: Database): number {
  return decodeNumber(db.get("select max(through) from feed")?.[0]) ?? 0;
}

/** Most pages are full with these; only where they are not, as many are read as could be needed. */
const FEW_ENTRIES = 32;

export interface FeedRead {
  readonly after: number;
  readonly task?: string | undefined;
  readonly limit: number;
  /** Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

/** The page that follows the cursor, and the last position there is. Rejects with `task_not_found`. */
export function readFeedPage(db: Database, query: FeedRead): { events: FeedText[]; head: number } {
  const { after, task, limit } = query;
  const maxBytes = clampBytes(query.maxBytes);
  return db.snapshot(() => {
    const whose = task === undefined ? [] : [logOfTask(db, task)];
    const sql = whose.length === 0 ? EVERYTHING : OF_TASK;
    const some = (rows: number) =>
      stretchesAfter(
        db.all(sql.entries, after, rows, ...whose).map((row) => entryOf(db, row)),
        after,
        limit,
      );
    const few = some(Math.min(FEW_ENTRIES, limit));
    const stretches = few.length < FEW_ENTRIES || countOf(few) >= limit ? few : some(limit);
    const events = namingFeedDamage(db, stretches, () => {
      const bytesOf = (count: number) =>
        decodeNumber(db.get(sql.bytes, ...boundsOf(after, cut(stretches, count)), ...whose)?.[0]) ?? 0;
      const all = { first: 1, last: countOf(stretches) };
      const page = cut(stretches, fitRange(all, "oldest_first", ({ last }) => bytesOf(last), maxBytes).last);
      const bodies = page.length === 0 ? [] : takeApart(db.get(sql.bodies, ...boundsOf(after, page), ...whose)?.[0]);
      return textsOf(page, bodies);
    });
    return { events, head: lastPosition(db) };
  });
}

/** A part of an entry: events of one log that have positions without a hole between them. */
interface Stretch {
  readonly log: Located;
  /** Of its entry. */
  readonly through: number;
  /** Of its first event. */
  readonly position: number;
  readonly first: number;
  readonly last: number;
}

type EntryRow = readonly [through: number, head: number, events: number, log: number, id: string];

const EVERYTHING = queries("");
/** By the index on `whose`, which has the positions in order. */
const OF_TASK = queries("and whose = ");

function queries(whose: string): { entries: string; bytes: string; bodies: string } {
  const only = (parameter: string) => (whose === "" ? "" : whose + parameter);
  const events = `
    feed cross join event on event.session = feed.log
      and seq > max(feed.head - events, ?1 - through + feed.head)
      and seq <= min(feed.head, ?2 - through + feed.head)
    where through > ?1 and through <= ?3 ${only("?4")}`;
  return {
    entries: `
      select through, ${numberColumn("head")}, ${numberColumn("events")}, ${numberColumn("log")}, ${textColumn(`case
        when log > 0 then (select id from session where no = log)
        else (select id from task where no = -log) end`)}
      from feed where through > ?1 and events > 0 ${only("?3")} order by through limit ?2`,
    bytes: `select sum(octet_length(body)) from ${events}`,
    bodies: joinedBodies(`select body from ${events} order by through, seq limit -1`),
  };
}

function logOfTask(db: Database, taskId: string): number {
  const row = db.get("select -no from task where id = ?", taskId);
  if (row === undefined) throw notFound("task", taskId);
  return decodeNumber(row[0]) ?? 0;
}

function entryOf(db: Database, row: Row): EntryRow {
  const [through = 0, head, events, log] = row.slice(0, 4).map(decodeNumber);
  const id = decodeText(row[4]);
  if (head !== undefined && events !== undefined && log !== undefined && id !== undefined) {
    return [through, head, events, log, id];
  }
  throw damageIn(db.path, `the entry at position ${through} of the feed`);
}

function stretchesAfter(rows: readonly EntryRow[], after: number, limit: number): Stretch[] {
  const stretches = rows.map(([through, head, events, no, id]): Stretch => {
    const count = Math.min(events, through - after);
    const log: Located = { kind: no > 0 ? "session" : "task", id, no, head };
    return { log, through, position: through - count + 1, first: head - count + 1, last: head };
  });
  return cut(stretches, limit);
}

function countOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** As many as `count` events of them. */
function cut(stretches: readonly Stretch[], count: number): Stretch[] {
  const some: Stretch[] = [];
  let left = count;
  for (const stretch of stretches) {
    if (left <= 0) break;
    const last = Math.min(stretch.last, stretch.first + left - 1);
    some.push({ ...stretch, last });
    left -= last - stretch.first + 1;
  }
  return some;
}

/** The cursor, the last position, and the entry that holds it. */
function boundsOf(after: number, stretches: readonly Stretch[]): [number, number, number] {
  const end = stretches.at(-1);
  return end === undefined ? [after, after, after] : [after, end.position + end.last - end.first, end.through];
}

/** If the page has a missing or damaged event, or SQLite meets a damaged page, the error names the first such event. */
function namingFeedDamage(db: Database, stretches: readonly Stretch[], read: () => FeedText[] | undefined): FeedText[] {
  let unread: RookeryError | undefined;
  try {
    const texts = read();
    if (texts !== undefined) return texts;
  } catch (error) {
    if (!isRookeryError(error, "store_corrupt")) throw error;
    unread = error;
  }
  for (const { log, first, last } of stretches) {
    const damage = findDamage(db, log, { first, last });
    if (damage !== undefined) throw damage;
  }
  throw unread ?? damageIn(db.path, "a page of the feed");
}

/** Undefined if the bodies are not those of the stretches. */
function textsOf(stretches: readonly Stretch[], bodies: readonly string[]): FeedText[] | undefined {
  const texts: FeedText[] = [];
  for (const { log, position, first, last } of stretches) {
    const ending = endingOf(log.kind, log.id);
    for (let seq = first; seq <= last; seq += 1) {
      const body = bodies[texts.length];
      if (body === undefined || !isBodyOf(body, seq)) return undefined;
      texts.push({ position: position + seq - first, text: completed(body, ending) });
    }
  }
  return texts;
}
