/** Writing appends: each is judged on its own, and those that pass are written together. Runs inside a transaction. */
import { emptySummary, summarize, type Appended, type SessionSummary } from "../../domain/index.ts";
import { admit, type Admissible, type JournalText } from "../admission.ts";
import type { Database } from "./database.ts";
import { isMalformedJson } from "./errors.ts";

export type Verdict = { readonly appended: Appended } | { readonly refused: unknown };

/** One verdict per append, in order. A refused one leaves no trace and does not touch its neighbours. */
export function writeAppends(db: Database, appends: readonly Admissible[]): Verdict[] {
  const sessions = new Map<string, Session>();
  for (const { append } of appends) {
    const session = sessions.get(append.sessionId) ?? loadSession(db, append.sessionId);
    sessions.set(append.sessionId, session);
    session.asked.push(append.id);
  }
  for (const session of sessions.values()) loadRepeats(db, session);
  const verdicts = appends.map((admissible) => judge(sessionOf(sessions, admissible), admissible));
  for (const session of sessions.values()) if (session.accepted.length > 0) writeSession(db, session);
  return verdicts;
}

/** A session while a group of appends is being judged. */
interface Session {
  no: number | undefined;
  head: number;
  summary: SessionSummary;
  readonly generation: number | undefined;
  readonly asked: string[];
  /** The head that each append id came to. */
  readonly known: Map<string, number>;
  readonly accepted: Admissible[];
}

function loadSession(db: Database, id: string): Session {
  const row = db.get("select no, head, summary from session where id = ?", id);
  const lease = db.get("select generation from lease where session_id = ?", id);
  return {
    no: row?.[0] as number | undefined,
    head: (row?.[1] as number | undefined) ?? 0,
    summary: row === undefined ? emptySummary(id) : (JSON.parse(row[2] as string) as SessionSummary),
    generation: lease?.[0] as number | undefined,
    asked: [],
    known: new Map(),
    accepted: [],
  };
}

function loadRepeats(db: Database, { no, asked, known }: Session): void {
  if (no === undefined) return;
  const sql = "select id, head from append where session = ? and id in (select value from json_each(?))";
  for (const [id, head] of db.all(sql, no, JSON.stringify(asked))) known.set(id as string, head as number);
}

function sessionOf(sessions: Map<string, Session>, { append }: Admissible): Session {
  return sessions.get(append.sessionId) as Session;
}

function judge(session: Session, admissible: Admissible): Verdict {
  const repeatedHead = session.known.get(admissible.append.id);
  if (repeatedHead !== undefined) return { appended: { head: repeatedHead, repeated: true } };
  try {
    admit(admissible, session);
  } catch (refused) {
    return { refused };
  }
  session.head = admissible.head;
  session.known.set(admissible.append.id, admissible.head);
  session.accepted.push(admissible);
  return { appended: { head: admissible.head, repeated: false } };
}

function writeSession(db: Database, session: Session): void {
  const { accepted } = session;
  const before = session.summary.head;
  session.summary = summarize(
    session.summary,
    accepted.flatMap(({ events }) => events),
  );
  const no = keepSummary(db, session);
  writeBodies(
    db,
    no,
    before + 1,
    accepted.flatMap(({ bodies }) => bodies),
  );
  const ids = JSON.stringify(accepted.map(({ append, head }) => [append.id, head]));
  db.run("insert into append select ?, value ->> 0, value ->> 1 from json_each(?)", no, ids);
  for (const { journal } of accepted) for (const write of journal) writeJournal(db, no, write);
}

function keepSummary(db: Database, { no, summary }: Session): number {
  const { id, head, agent, cwd, parent, status } = summary;
  const columns = [head, agent, cwd, parent ?? null, status, JSON.stringify(summary)] as const;
  if (no !== undefined) {
    db.run(
      "update session set head = ?, agent = ?, cwd = ?, parent = ?, status = ?, summary = ? where no = ?",
      ...columns,
      no,
    );
    return no;
  }
  const sql =
    "insert into session (head, agent, cwd, parent, status, summary, id) values (?, ?, ?, ?, ?, ?, ?) returning no";
  return db.get(sql, ...columns, id)?.[0] as number;
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
