/** Searches a database for damage: reads every event, row and blob, and runs SQLite's integrity check. */
import { nameBlob } from "../blob.ts";
import { decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import { retryWhileLocked } from "./lock.ts";
import { connect } from "./open.ts";
import {
  attemptRead,
  findLogs,
  readMaximum,
  readEvents,
  readLogRow,
  readRows,
  type FoundLog,
} from "./damaged-reads.ts";
import { readRequest } from "./requests.ts";
import { readJournal, readLease } from "./tables.ts";

export interface Damage {
  readonly kind: "session" | "task" | "file";
  /** The id of the session or task. Undefined for the file, or if the id is lost. */
  readonly id?: string | undefined;
  /** The lost events, such as "events 3 to 5, 9". */
  readonly events?: string | undefined;
  /** A sentence without a period. */
  readonly message: string;
}

const LOCK_TIMEOUT_MS = 10_000;
/** Maximum number of integrity check messages to report. */
const MAX_STRUCTURE_LINES = 5;

/** Reads the whole file. Other processes may use it meanwhile. Rejects with `store_corrupt` if nothing is readable. */
export async function findStoreDamage(path: string): Promise<readonly Damage[]> {
  const db = connect(path);
  try {
    const deadline = performance.now() + LOCK_TIMEOUT_MS;
    return await retryWhileLocked(() => db.snapshot(() => findDamages(db)), deadline);
  } finally {
    db.close();
  }
}

export function findDamages(db: Database): Damage[] {
  db.get("select 1 from sqlite_schema limit 1"); // throws if the file is unreadable
  const logs = (["session", "task"] as const).flatMap((kind) =>
    Array.from(findLogs(db, kind), ([no, id]) => findLogDamage(db, readLogRow(db, kind, no, id))),
  );
  const other = [
    ...findDamagedLeases(db),
    ...findDamagedJournals(db),
    ...findDamagedRequests(db),
    ...findDamagedBlobs(db),
    ...findDamagedNumbers(db),
  ];
  const found = [...logs.filter((damage) => damage !== undefined), ...other.map(toFileDamage)];
  return [...found, ...findStructureProblems(db).map(toFileDamage)];
}

/** Collects lost sequence numbers and formats them briefly: "events 3 to 5, 9 and 2000 more". */
export class LostPositions {
  readonly #ranges: { first: number; last: number }[] = [];
  count = 0;

  /** Call this in ascending order. */
  add(seq: number): void {
    this.count += 1;
    const last = this.#ranges.at(-1);
    if (last?.last === seq - 1) last.last = seq;
    else this.#ranges.push({ first: seq, last: seq });
  }

  toString(): string {
    const listed = this.#ranges.slice(0, 5);
    const more = this.count - listed.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    const parts = listed.map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`));
    return `${this.count === 1 ? "event" : "events"} ${parts.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
  }
}

function findLogDamage(db: Database, log: FoundLog): Damage | undefined {
  const lost = new LostPositions();
  for (const page of readEvents(db, log)) {
    for (const { seq, draft } of page) if (draft === undefined) lost.add(seq);
  }
  if (lost.count === 0 && log.problems.length === 0) return undefined;
  const { kind, id, no, problems } = log;
  const name = id === undefined ? `${kind} number ${no}` : `${kind} ${id}`;
  if (lost.count === 0) return { kind, id, message: `${name} is damaged: ${problems.join(", ")}` };
  const events = String(lost);
  const reasons = ["they are missing or are not valid events", ...problems].join(", ");
  return { kind, id, events, message: `${name} is damaged at ${events}: ${reasons}` };
}

function toFileDamage(message: string): Damage {
  return { kind: "file", message };
}

function* findDamagedLeases(db: Database): Generator<string> {
  const rows = attemptRead(() => db.all(`select ${textColumn("session_id")} from lease`));
  if (rows === undefined) yield "the leases cannot be read";
  for (const [cell] of rows?.value ?? []) {
    const id = decodeText(cell);
    if (id === undefined || attemptRead(() => readLease(db, id)) === undefined) {
      yield `the lease of ${id ?? "an unknown session"} is damaged`;
    }
  }
}

function* findDamagedJournals(db: Database): Generator<string> {
  const sql = `
    select distinct ${textColumn("session.id")}, ${textColumn("turn")}
    from journal left join session on session.no = journal.session`;
  const rows = attemptRead(() => db.all(sql));
  if (rows === undefined) yield "the journal cannot be read";
  for (const [idCell, turnCell] of rows?.value ?? []) {
    const [id, turn] = [decodeText(idCell), decodeText(turnCell)];
    const isRead = id !== undefined && turn !== undefined && attemptRead(() => readJournal(db, id, turn)) !== undefined;
    if (!isRead) yield `the journal of turn ${turn ?? "unknown"} of session ${id ?? "unknown"} is damaged`;
  }
}

function* findDamagedRequests(db: Database): Generator<string> {
  const rows = attemptRead(() => db.all(`select ${textColumn("key")} from request`));
  if (rows === undefined) yield "the idempotency keys cannot be read";
  for (const [cell] of rows?.value ?? []) {
    const key = decodeText(cell);
    if (key === undefined || attemptRead(() => readRequest(db, key)) === undefined)
      yield "an idempotency key is damaged";
  }
}

export interface FoundBlob {
  /** The hash that the file records. Undefined if it is damaged. */
  readonly hash: string | undefined;
  readonly bytes: Uint8Array | undefined;
  /** Whether the bytes match the hash. */
  readonly isWhole: boolean;
}

export function* findBlobs(db: Database): Generator<FoundBlob> {
  const last = readMaximum(db, "select max(rowid) from blob");
  for (const [no] of readRows(db, "select rowid from blob where rowid between ? and ?", last)) {
    const row = attemptRead(() =>
      db.get(`select ${textColumn("hash")}, cast(bytes as blob) from blob where rowid = ?`, no ?? 0),
    )?.value;
    const [hash, bytes] = [decodeText(row?.[0]), row?.[1] instanceof Uint8Array ? row[1] : undefined];
    yield { hash, bytes, isWhole: bytes !== undefined && nameBlob(bytes).hash === hash };
  }
}

function* findDamagedBlobs(db: Database): Generator<string> {
  for (const { hash, isWhole } of findBlobs(db)) if (!isWhole) yield `blob ${hash ?? "without a hash"} is damaged`;
}

/** Checks the tables that hold only numbers and ids. */
function* findDamagedNumbers(db: Database): Generator<string> {
  const isNumber = (name: string) => `typeof(${name}) = 'integer'`;
  const feed = ["log", "whose", "head", "events"].map(isNumber).join(" and ");
  const append = `${isNumber("head")} and typeof(id) = 'text'`;
  for (const [table, check] of Object.entries({ feed, append })) {
    const row = attemptRead(() => db.get(`select count(*) from ${table} where not (${check})`));
    const count = decodeNumber(row?.value?.[0]);
    if (count !== 0) yield `${count ?? "all"} rows of the table "${table}" are damaged`;
  }
  const total = attemptRead(() => db.get(`select ${numberColumn("sum(events)")} from feed`));
  if (total === undefined) yield "the feed of events cannot be read";
}

function findStructureProblems(db: Database): string[] {
  const sql = `select ${textColumn("integrity_check")} from pragma_integrity_check(${MAX_STRUCTURE_LINES})`;
  const rows = attemptRead(() => db.all(sql))?.value;
  if (rows === undefined) return ["SQLite cannot check the file"];
  const lines = rows.map(([cell]) => (cell instanceof Uint8Array ? Buffer.from(cell).toString("utf8") : ""));
  return lines
    .filter((line) => line !== "ok")
    .map((line) => `SQLite reports: ${line.split("\n").slice(0, 3).join("; ")}`);
}
