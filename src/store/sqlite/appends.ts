/** Checks each append of a group, and writes the accepted ones together. Runs inside a transaction. */
import type { Appended } from "../../domain/index.ts";
import { checkAppend, type PreparedAppend, type JournalText, type LogKind } from "../admission.ts";
import { toDamageError, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import { isMalformedJson } from "./errors.ts";
import { writeFeed } from "./feed.ts";
import type { LogRow } from "./log-row.ts";
import { writeMadeEvent } from "./requests.ts";
import { loadSession } from "./session-log.ts";
import { loadTask } from "./task-log.ts";

export type AppendVerdict = { readonly appended: Appended } | { readonly refused: unknown };

/** Returns one verdict per append, in order. A refused append changes nothing and does not affect the others. */
export function writeAppends(db: Database, appends: readonly PreparedAppend[]): AppendVerdict[] {
  const logs: Record<LogKind, Map<string, LogInGroup>> = { session: new Map(), task: new Map() };
  const judged = appends.map((prepared) => {
    const { kind, logId, append } = prepared;
    const log = logs[kind].get(logId) ?? loadLog(db, kind, logId);
    logs[kind].set(logId, log);
    log.appendIds.push(append.id);
    return { log, prepared };
  });
  const all = [...logs.session.values(), ...logs.task.values()];
  for (const log of all) loadRepeats(db, log);
  const verdicts = judged.map(({ log, prepared }) => judgeAppend(log, prepared));
  for (const log of all) if (log.accepted.length > 0) writeLog(db, log);
  return verdicts;
}

/** Appends at the current head. Does not call `prepare` if the append id was already used. */
export function writeAtHead(
  db: Database,
  { kind, logId, id }: { readonly kind: LogKind; readonly logId: string; readonly id: string },
  prepare: () => PreparedAppend | undefined,
): Appended {
  const log = loadLog(db, kind, logId);
  log.appendIds.push(id);
  loadRepeats(db, log);
  const repeatedHead = log.knownHeads.get(id);
  if (repeatedHead !== undefined) return { head: repeatedHead, repeated: true };
  const prepared = prepare();
  if (prepared === undefined) return { head: log.head, repeated: false };
  const [verdict] = writeAppends(db, [prepared]);
  if (verdict === undefined || "refused" in verdict) throw verdict?.refused;
  return verdict.appended;
}

/** The state of a log while a group of appends is checked. */
interface LogInGroup {
  readonly row: LogRow;
  head: number;
  readonly generation: number | undefined;
  readonly appendIds: string[];
  /** The head after each known append, by append id. */
  readonly knownHeads: Map<string, number>;
  readonly accepted: PreparedAppend[];
}

function loadLog(db: Database, kind: LogKind, id: string): LogInGroup {
  const row = kind === "session" ? loadSession(db, id) : loadTask(db, id);
  const lease = db.get(`select ${numberColumn("generation")} from lease where session_id = ?`, id);
  const generation = decodeNumber(lease?.[0]);
  if (lease !== undefined && generation === undefined) throw toDamageError(db.path, `the lease of ${kind} ${id}`);
  return { row, head: row.head, generation, appendIds: [], knownHeads: new Map(), accepted: [] };
}

const REPEATS = `
  select ${textColumn("id")}, ${numberColumn("head")} from append
  where session = ? and id in (select value from json_each(?))`;

function loadRepeats(db: Database, { row: { no }, appendIds, knownHeads }: LogInGroup): void {
  if (no === undefined) return;
  for (const [idCell, headCell] of db.all(REPEATS, no, JSON.stringify(appendIds))) {
    const [id, head] = [decodeText(idCell), decodeNumber(headCell)];
    if (id === undefined || head === undefined) throw toDamageError(db.path, `the list of appends of log ${no}`);
    knownHeads.set(id, head);
  }
}

function judgeAppend(log: LogInGroup, prepared: PreparedAppend): AppendVerdict {
  const repeatedHead = log.knownHeads.get(prepared.append.id);
  if (repeatedHead !== undefined) return { appended: { head: repeatedHead, repeated: true } };
  try {
    checkAppend(prepared, log);
  } catch (refused) {
    return { refused };
  }
  log.head = prepared.head;
  log.knownHeads.set(prepared.append.id, prepared.head);
  log.accepted.push(prepared);
  return { appended: { head: prepared.head, repeated: false } };
}

function writeLog(db: Database, { row, head, accepted }: LogInGroup): void {
  const { log, whose } = row.write(accepted.flatMap(({ events }) => events));
  const bodies = accepted.flatMap(({ bodies }) => bodies);
  writeBodies(db, log, row.head + 1, bodies);
  const ids = JSON.stringify(accepted.map(({ append, head }) => [append.id, head]));
  db.run("insert into append select ?, value ->> 0, value ->> 1 from json_each(?)", log, ids);
  if (bodies.length > 0) writeFeed(db, { log, whose, head, events: bodies.length });
  for (const { journal, request } of accepted) {
    for (const write of journal) writeJournal(db, log, write);
    if (request !== undefined) writeMadeEvent(db, request);
  }
}

/** From this number on, one insert from a JSON array is faster than an insert per row. */
const MIN_BULK_BODIES = 3;

function writeBodies(db: Database, no: number, first: number, bodies: readonly string[]): void {
  if (bodies.length >= MIN_BULK_BODIES && writeInBulk(db, no, first, bodies)) return;
  for (const [index, body] of bodies.entries()) db.run("insert into event values (?, ?, ?)", no, first + index, body);
}

/** Inserts the bodies unchanged. False if SQLite rejects one because it is nested too deeply. */
function writeInBulk(db: Database, no: number, first: number, bodies: readonly string[]): boolean {
  try {
    db.run("insert into event select ?1, ?2 + key, value from json_each(?3)", no, first, `[${bodies.join(",")}]`);
    return true;
  } catch (error) {
    if (isMalformedJson(error)) return false;
    throw error;
  }
}

function writeJournal(db: Database, no: number, write: JournalText): void {
  if (write.op === "forget") {
    db.run("delete from journal where session = ? and turn = ?", no, write.turnId);
    return;
  }
  const { turnId, step, kind, id } = write.key;
  const values = "insert into journal (session, turn, step, kind, id, finished, value) values (?, ?, ?, ?, ?, ?, ?)";
  if (write.op === "start") {
    db.run(`${values} on conflict do nothing`, no, turnId, step, kind, id, 0, null);
  } else {
    const sql = `${values} on conflict do update set finished = excluded.finished, value = excluded.value`;
    db.run(sql, no, turnId, step, kind, id, 1, write.value ?? null);
  }
}
