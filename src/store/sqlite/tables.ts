/** Reads and writes summaries, leases, the journal and blobs. */
import type { EffectKey, JournalEntry, Lease, SessionSummary } from "../../domain/index.ts";
import { nameBlob } from "../blob.ts";
import { toRenewedLeases, type StoredLease } from "../lease.ts";
import { toDamageError, decodeJson, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";
import { decodeSummary } from "./records.ts";

/** Throws `log_corrupt` if the summary is damaged. */
export function readSummary(db: Database, sessionId: string): SessionSummary | undefined {
  const row = db.get(`select ${textColumn("summary")} from session where id = ?`, sessionId);
  return row && decodeSummary(db, sessionId, row[0]);
}

const LEASE = `
  select ${textColumn("owner")}, ${numberColumn("generation")}, ${numberColumn("until")}, ${numberColumn("released")}
  from lease where session_id = ?`;

/** Throws `log_corrupt` if the lease is damaged. */
export function readLease(db: Database, sessionId: string): StoredLease | undefined {
  const row = db.get(LEASE, sessionId);
  if (row === undefined) return undefined;
  const owner = decodeText(row[0]);
  const [generation, until, released] = row.slice(1).map(decodeNumber);
  if (owner === undefined || generation === undefined || until === undefined || released === undefined) {
    throw toDamageError(db.path, `the lease of session or task ${sessionId}`);
  }
  return { sessionId, owner, generation, until, released: released === 1 };
}

export function writeLease(db: Database, { sessionId, owner, generation, until, released }: StoredLease): void {
  const sql = "insert or replace into lease (session_id, owner, generation, until, released) values (?, ?, ?, ?, ?)";
  db.run(sql, sessionId, owner, generation, until, released ? 1 : 0);
}

const EXTEND_LEASES = `
  update lease set until = ?1 where released = 0 and (session_id, generation) in (
    select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?2)
  ) returning ${textColumn("session_id")}, ${numberColumn("generation")}`;

/** Returns the renewed leases in the same order, and undefined for each that is lost. */
export function renewLeaseRows(db: Database, leases: readonly Lease[], until: number): (Lease | undefined)[] {
  const keys = leases.map(({ sessionId, generation }) => [sessionId, generation]);
  const renewed = db.all(EXTEND_LEASES, until, JSON.stringify(keys)).map(([id, generation]) => ({
    sessionId: decodeText(id) ?? "",
    generation: decodeNumber(generation) ?? 0,
  }));
  return toRenewedLeases(leases, renewed, until);
}

const JOURNAL = `
  select ${numberColumn("step")}, ${textColumn("kind")}, ${textColumn("journal.id")}, ${numberColumn("finished")},
    ${textColumn("value")}
  from journal join session on session.no = journal.session where session.id = ? and turn = ? order by journal.no`;

/** Throws `log_corrupt` if an entry is damaged. Skipping the entry could run an effect twice. */
export function readJournal(db: Database, sessionId: string, turnId: string): JournalEntry[] {
  return db.all(JOURNAL, sessionId, turnId).map(([stepCell, kindCell, idCell, finishedCell, valueCell]) => {
    const step = decodeNumber(stepCell);
    const [kind, id] = [decodeText(kindCell), decodeText(idCell)];
    const finished = decodeNumber(finishedCell);
    const value = valueCell === null ? undefined : decodeJson(valueCell, isAnyJson);
    const isWhole = step !== undefined && kind !== undefined && id !== undefined && finished !== undefined;
    if (!isWhole || (valueCell !== null && value === undefined)) {
      throw toDamageError(db.path, `the journal of turn ${turnId} of session ${sessionId}`);
    }
    const key = { sessionId, turnId, step, kind, id } as EffectKey;
    return { key, finished: finished === 1, value };
  });
}

function isAnyJson(value: unknown): value is unknown {
  return value !== undefined;
}

export function writeBlob(db: Database, hash: string, bytes: Uint8Array): void {
  db.run("insert or ignore into blob (hash, bytes) values (?, ?)", hash, bytes);
}

/** Throws `log_corrupt` if the bytes do not match the hash. */
export function readBlob(db: Database, hash: string): Uint8Array | undefined {
  const bytes = db.get("select cast(bytes as blob) from blob where hash = ?", hash)?.[0];
  if (bytes === undefined) return undefined;
  if (!(bytes instanceof Uint8Array) || nameBlob(bytes).hash !== hash) throw toDamageError(db.path, `blob ${hash}`);
  return bytes;
}
