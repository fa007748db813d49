/** Reads a damaged database as far as possible. An unreadable page or row loses only its own content. */
import {
  findDraftProblem,
  findTaskDraftProblem,
  isRookeryError,
  type EventDraft,
  type SessionSummary,
  type TaskEventDraft,
  type TaskState,
} from "../../domain/index.ts";
import type { LogKind } from "../admission.ts";
import { fitRange } from "../page.ts";
import { isObjectValue, isSummary, isTaskState } from "../stored-shapes.ts";
import { decodeJson, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Cell, Database, Row } from "./database.ts";
import { isDeletedSessionId } from "./delete-session.ts";

/** A session or task, as far as its row can be read. */
export interface FoundLog {
  readonly kind: LogKind;
  /** The row number. */
  readonly no: number;
  readonly id: string | undefined;
  /** The sequence number of the last event. */
  readonly head: number;
  /** Whether the row and the record agree on the head. */
  readonly isHeadCertain: boolean;
  /** Undefined if the summary or state is damaged. */
  readonly record: SessionSummary | TaskState | undefined;
  /** Descriptions of the damage in the row. */
  readonly problems: readonly string[];
}

export interface FoundEvent {
  readonly seq: number;
  /** Undefined if the event is missing or damaged. */
  readonly draft: EventDraft | TaskEventDraft | undefined;
}

/** Limits the scan if a damaged number is huge. */
const MAX_POSITION = 10_000_000;
const MAX_NUMBER = 1_000_000;
const PAGE_ROWS = 500;

/** Returns the result of a read. Undefined if the read fails because the file is damaged. */
export function attemptRead<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    if (isRookeryError(error, "store_corrupt") || isRookeryError(error, "log_corrupt")) return undefined;
    if (isRookeryError(error, "store_unavailable")) return undefined; // a disk error or a missing table
    throw error;
  }
}

/** Finds the row numbers of all sessions or tasks, oldest first, with the id from the id index. */
export function findLogs(db: Database, kind: LogKind): Map<number, string | undefined> {
  const found = new Map<number, string | undefined>();
  for (const [no] of readRows(db, `select no from ${kind} where no between ? and ?`, lastNumber(db, kind))) {
    if (typeof no === "number") found.set(no, undefined);
  }
  for (const no of numbersInEvents(db, kind)) found.set(no, undefined);
  for (const { no, id } of readIndex(db, kind)) {
    if (isDeletedSessionId(id)) found.delete(no);
    else found.set(no, id);
  }
  return new Map(Array.from(found).sort(([one], [other]) => one - other));
}

/** Reads page by page. Reads row by row if a page fails. */
export function* readRows(db: Database, sql: string, last: number): Generator<Row> {
  for (let first = 1; first <= last; first += PAGE_ROWS) {
    const end = Math.min(first + PAGE_ROWS - 1, last);
    const page = attemptRead(() => db.all(sql, first, end));
    if (page !== undefined) yield* page.value;
    else for (let no = first; no <= end; no += 1) yield* attemptRead(() => db.all(sql, no, no))?.value ?? [];
  }
}

/** The greatest row number that the table or its events mention. */
function lastNumber(db: Database, kind: LogKind): number {
  const inEvents = kind === "session" ? "max(session)" : "-min(session)";
  const found = [`select max(no) from ${kind}`, `select ${numberColumn(inEvents)} from event`];
  return Math.min(Math.max(...found.map((sql) => readMaximum(db, sql))), MAX_NUMBER);
}

/** 0 if the value cannot be read. */
export function readMaximum(db: Database, sql: string, ...values: number[]): number {
  const row = attemptRead(() => db.get(sql, ...values))?.value;
  const found = decodeNumber(row?.[0]) ?? 0;
  return found > 0 && found <= MAX_POSITION ? found : 0;
}

/** Yields the numbers of logs that have events. */
function* numbersInEvents(db: Database, kind: LogKind): Generator<number> {
  const sign = kind === "session" ? 1 : -1;
  const sql =
    kind === "session"
      ? `select ${numberColumn("min(session)")} from event where session > ?`
      : `select ${numberColumn("max(session)")} from event where session < ?`;
  for (let no = 0; ;) {
    const next = decodeNumber(attemptRead(() => db.get(sql, sign * no))?.value?.[0]);
    if (next === undefined || sign * next <= no || sign * next > MAX_NUMBER) return;
    no = sign * next;
    yield no;
  }
}

/** Reads the index from both ends, because a damaged page stops the scan from one of them. */
function* readIndex(db: Database, kind: LogKind): Generator<{ no: number; id: string }> {
  for (const [comparison, order] of [
    [">", "asc"],
    ["<", "desc"],
  ]) {
    const after = `where ?1 is null or id ${comparison} ?1`;
    const sql = `
      select no, ${textColumn("id")} from ${kind} indexed by sqlite_autoindex_${kind}_1 ${after}
      order by id ${order} limit ${PAGE_ROWS}`;
    for (let cursor: string | null = null, pages = 0; pages < MAX_NUMBER / PAGE_ROWS; pages += 1) {
      const rows: Row[] = attemptRead(() => db.all(sql, cursor))?.value ?? [];
      const decoded = rows.flatMap(([no, cell]) => {
        const id = decodeText(cell);
        return id === undefined || typeof no !== "number" ? [] : [{ no, id }];
      });
      yield* decoded;
      const last: string | undefined = decoded.at(-1)?.id;
      if (rows.length < PAGE_ROWS || last === undefined || last === cursor) break;
      cursor = last;
    }
  }
}

interface KindColumns {
  readonly record: string;
  /** Columns that duplicate fields of the record. */
  readonly repeated: readonly string[];
  readonly isRecord: (value: unknown) => value is SessionSummary | TaskState;
}

const COLUMNS: Record<LogKind, KindColumns> = {
  session: { record: "summary", repeated: ["agent", "cwd", "status", "parent"], isRecord: isSummary },
  task: { record: "state", repeated: ["phase"], isRecord: isTaskState },
};

/** Reads the row of a log. If the row is lost, its events may still be readable. */
export function readLogRow(db: Database, kind: LogKind, no: number, indexedId: string | undefined): FoundLog {
  const { record: recordName, repeated, isRecord } = COLUMNS[kind];
  const columns = ["id", recordName, ...repeated].map(textColumn).join(", ");
  const row = attemptRead(() => db.get(`select ${numberColumn("head")}, ${columns} from ${kind} where no = ?`, no));
  const [headCell, idCell, recordCell, ...repeatedCells] = row?.value ?? [];
  const [rowHead, rowId, record] = [decodeNumber(headCell), decodeText(idCell), decodeJson(recordCell, isRecord)];
  const lastSeq = readMaximum(
    db,
    `select ${numberColumn("max(seq)")} from event where session = ?`,
    logNumber(kind, no),
  );
  const isHeadCertain = rowHead !== undefined && rowHead === record?.head && rowHead >= lastSeq;
  const head = isHeadCertain || lastSeq === 0 ? (rowHead ?? record?.head ?? 0) : lastSeq;
  const id = record?.id ?? rowId ?? indexedId;
  const areDuplicatesEqual = repeated.every((name, index) => {
    const value = (record as unknown as Record<string, unknown> | undefined)?.[name];
    return record === undefined || (decodeText(repeatedCells[index]) ?? undefined) === value;
  });
  const problems =
    row?.value === undefined
      ? ["its row cannot be read"]
      : [
          ...(record === undefined ? [`its ${recordName} cannot be read`] : []),
          ...(rowId === id && (indexedId === undefined || indexedId === id) ? [] : ["its id is damaged"]),
          ...(rowHead === undefined || rowHead !== (record?.head ?? rowHead) ? ["its head is damaged"] : []),
          ...(areDuplicatesEqual ? [] : ["a column of its row is damaged"]),
        ];
  return { kind, no, id, head: Math.min(Math.max(head, 0), MAX_POSITION), isHeadCertain, record, problems };
}

/** Events of a task are stored under its negated row number. */
export function logNumber(kind: LogKind, no: number): number {
  return kind === "session" ? no : -no;
}

/** Yields every event up to the head, in pages. If the head is uncertain, omits lost events at the end. */
export function* readEvents(db: Database, log: FoundLog): Generator<readonly FoundEvent[]> {
  let lostFrom: number | undefined;
  for (let first = 1; first <= log.head;) {
    const last = pageEnd(db, log, first);
    const page = readEventPage(db, log, first, last);
    if (log.isHeadCertain) yield page;
    else {
      const end = page.findLastIndex(({ draft }) => draft !== undefined) + 1;
      if (end > 0) {
        yield* lostPages(lostFrom, first);
        yield page.slice(0, end);
        lostFrom = undefined;
      }
      lostFrom ??= first + end;
    }
    first = last + 1;
  }
}

function* lostPages(first: number | undefined, end: number): Generator<readonly FoundEvent[]> {
  for (let seq = first ?? end; seq < end; seq += PAGE_ROWS) {
    const length = Math.min(PAGE_ROWS, end - seq);
    yield Array.from({ length }, (_, index) => ({ seq: seq + index, draft: undefined }));
  }
}

const EVENTS = `
  select ${numberColumn("seq")}, ${textColumn("body")} from event where session = ? and seq between ? and ?`;

function readEventPage(db: Database, { kind, no }: FoundLog, first: number, last: number): FoundEvent[] {
  const log = logNumber(kind, no);
  const seqs = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const rows =
    attemptRead(() => db.all(EVENTS, log, first, last))?.value ??
    seqs.flatMap((seq) => attemptRead(() => db.all(EVENTS, log, seq, seq))?.value ?? []);
  const bodies = new Map(rows.map(([seq, body]) => [seq, body]));
  return seqs.map((seq) => ({ seq, draft: decodeDraft(kind, bodies.get(seq), seq) }));
}

/** The last event of the page. The page has one event if its size cannot be read. */
function pageEnd(db: Database, { kind, no, head }: FoundLog, first: number): number {
  const sql = "select sum(octet_length(body)) from event where session = ? and seq between ? and ?";
  const bytesOf = (range: { first: number; last: number }) =>
    decodeNumber(db.get(sql, logNumber(kind, no), range.first, range.last)?.[0]) ?? 0;
  const whole = { first, last: Math.min(first + PAGE_ROWS - 1, head) };
  return attemptRead(() => fitRange(whole, "oldest_first", bytesOf))?.value.last ?? first;
}

/** Undefined if the text is not a valid event with this sequence number. */
function decodeDraft(kind: LogKind, cell: Cell | undefined, seq: number): FoundEvent["draft"] {
  const body = decodeJson(cell, isObjectValue);
  if (body?.["seq"] !== seq) return undefined;
  const { seq: _, ...fields } = body;
  const draft = fields as unknown as EventDraft | TaskEventDraft;
  const problem =
    kind === "session" ? findDraftProblem(draft as EventDraft) : findTaskDraftProblem(draft as TaskEventDraft);
  return problem === undefined ? draft : undefined;
}
