/** Writing appends: each is judged on its own, and those that pass are written together. Runs inside a transaction. */
import type { Appended, LogEvent } from "../../domain/index.ts";
import { admit, type Admissible, type JournalText, type LogKind } from "../admission.ts";
import { damageIn, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import { isMalformedJson } from "./errors.ts";
import { writeFeed } from "./feed.ts";
import { writeMade } from "./requests.ts";
import { loadSession } from "./session-log.ts";
import { loadTask } from "./task-log.ts";

export type Verdict = { readonly appended: Appended } | { readonly refused: unknown };

/** The row of a session or a task that its log belongs to. */
export interface KeptLog {
  /** Of the log, which is not that of the row: see the schema. Undefined where there is none yet. */
  readonly no: number | undefined;
  readonly head: number;
  /** Takes the events into the row. Called once, with at least one event or where the row exists. */
  keep(events: readonly LogEvent[]): { readonly log: number; readonly whose: number };
}

/** One verdict per append, in order. A refused one leaves no trace and does not touch its neighbours. */
export function writeAppends(db: Database, appends: readonly Admissible[]): Verdict[] {
  const logs: Record<LogKind, Map<string, Log>> = { session: new Map(), task: new Map() };
  const judged = appends.map((admissible) => {
    const { kind, logId, append } = admissible;
    const log = logs[kind].get(logId) ?? loadLog(db, kind, logId);
    logs[kind].set(logId, log);
    log.asked.push(append.id);
    return { log, admissible };
  });
  const all = [...logs.session.values(), ...logs.task.values()];
  for (const log of all) loadRepeats(db, log);
  const verdicts = judged.map(({ log, admissible }) => judge(log, admissible));
  for (const log of all) if (log.accepted.length > 0) writeLog(db, log);
  return verdicts;
}

/** Appends after whatever the log holds. `prepare` is not called if the id was appended before. */
export function writeAtHead(
  db: Database,
  { kind, logId, id }: { readonly kind: LogKind; readonly logId: string; readonly id: string },
  prepare: () => Admissible | undefined,
): Appended {
  const log = loadLog(db, kind, logId);
  log.asked.push(id);
  loadRepeats(db, log);
  const repeatedHead = log.known.get(id);
  if (repeatedHead !== undefined) return { head: repeatedHead, repeated: true };
  const admissible = prepare();
  if (admissible === undefined) return { head: log.head, repeated: false };
  const [verdict] = writeAppends(db, [admissible]);
  if (verdict === undefined || "refused" in verdict) throw verdict?.refused;
  return verdict.appended;
}

/** A log while a group of appends is being judged. */
interface Log {
  readonly kept: KeptLog;
  head: number;
  readonly generation: number | undefined;
  readonly asked: string[];
  /** The head that each append id came to. */
  readonly known: Map<string, number>;
  readonly accepted: Admissible[];
}

function loadLog(db: Database, kind: LogKind, id: string): Log {
  const kept = kind === "session" ? loadSession(db, id) : loadTask(db, id);
  const lease = db.get(`select ${numberColumn("generation")} from lease where session_id = ?`, id);
  const generation = decodeNumber(lease?.[0]);
  if (lease !== undefined && generation === undefined) throw damageIn(db.path, `the lease of ${kind} ${id}`);
  return { kept, head: kept.head, generation, asked: [], known: new Map(), accepted: [] };
}

const REPEATS = `
  select ${textColumn("id")}, ${numberColumn("head")} from append
  where session = ? and id in (select value from json_each(?))`;

function loadRepeats(db: Database, { kept: { no }, asked, known }: Log): void {
  if (no === undefined) return;
  for (const [idCell, headCell] of db.all(REPEATS, no, JSON.stringify(asked))) {
    const [id, head] = [decodeText(idCell), decodeNumber(headCell)];
    if (id === undefined || head === undefined) throw damageIn(db.path, `the list of appends of log ${no}`);
    known.set(id, head);
  }
}

function judge(log: Log, admissible: Admissible): Verdict {
  const repeatedHead = log.known.get(admissible.append.id);
  if (repeatedHead !== undefined) return { appended: { head: repeatedHead, repeated: true } };
  try {
    admit(admissible, log);
  } catch (refused) {
    return { refused };
  }
  log.head = admissible.head;
  log.known.set(admissible.append.id, admissible.head);
  log.accepted.push(admissible);
  return { appended: { head: admissible.head, repeated: false } };
}

function writeLog(db: Database, { kept, head, accepted }: Log): void {
  const { log, whose } = kept.keep(accepted.flatMap(({ events }) => events));
  const bodies = accepted.flatMap(({ bodies }) => bodies);
  writeBodies(db, log, kept.head + 1, bodies);
  const ids = JSON.stringify(accepted.map(({ append, head }) => [append.id, head]));
  db.run("insert into append select ?, value ->> 0, value ->> 1 from json_each(?)", log, ids);
  if (bodies.length > 0) writeFeed(db, { log, whose, head, events: bodies.length });
  for (const { journal, request } of accepted) {
    for (const write of journal) writeJournal(db, log, write);
    if (request !== undefined) writeMade(db, request);
  }
}

/** Where there are more, SQLite takes an array of them apart, which is faster than a call per row. */
const FEW = 3;

function writeBodies(db: Database, no: number, first: number, bodies: readonly string[]): void {
  if (bodies.length >= FEW && writeInBulk(db, no, first, bodies)) return;
  for (const [index, body] of bodies.entries()) db.run("insert into event values (?, ?, ?)", no, first + index, body);
}

/** The texts come out of the array as they went in. False where SQLite could not read one: it nests too deeply. */
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
