/** Reads and writes journal entries, blobs and idempotency keys. */
import type { EffectKey, JournalEntry, KeptRequest, MadeEvent } from "../../domain/index.ts";
import type { RequestKey } from "../../stdx/request-key.ts";
import { MAX_BLOB_BYTES, nameBlob } from "../blob.ts";
import type { PostgresConnection } from "./connection.ts";
import { parseStored, toDamagedRow } from "./stored-json.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

const JOURNAL_SQL = `
  select j.step, j.kind, j.id, j.finished, j.value from @journal j join @session s on s.no = j.log
  where s.id = $1 and j.turn = $2 order by j.no`;

export async function selectJournal(
  connection: PostgresConnection,
  sessionId: string,
  turnId: string,
): Promise<readonly JournalEntry[]> {
  const rows = await connection.query(JOURNAL_SQL, [toStoredText(sessionId), toStoredText(turnId)]);
  return rows.map(([step, kind, id, finished, value]) => ({
    key: { sessionId, turnId, step, kind, id: fromStoredText(id as string) } as EffectKey,
    finished: finished === true,
    value: value === null ? undefined : parseStored(value as string, `the journal of turn ${turnId}`),
  }));
}

export async function insertBlob(connection: PostgresConnection, hash: string, bytes: Uint8Array): Promise<void> {
  const sql = "insert into @blob (hash, bytes) values ($1, $2::bytea) on conflict do nothing";
  await connection.query(sql, [hash, Buffer.from(bytes)], { bytes: bytes.byteLength });
}

/** Rejects with `log_corrupt` if the bytes do not match the hash. */
export async function selectBlob(connection: PostgresConnection, hash: string): Promise<Uint8Array | undefined> {
  const sql = "select bytes from @blob where hash = $1";
  const [row] = await connection.query(sql, [toStoredText(hash)], { bytes: MAX_BLOB_BYTES });
  if (row === undefined) return undefined;
  const bytes = new Uint8Array(row[0] as Buffer);
  if (nameBlob(bytes).hash === hash) return bytes;
  throw toDamagedRow(`blob ${hash}`);
}

const REQUEST_SQL = "select digest, at, log, id, seq, response from @request where key = $1";

/** Rejects with `log_corrupt` if the row is damaged. Ignoring it could run the request twice. */
export async function selectRequest(connection: PostgresConnection, key: string): Promise<KeptRequest | undefined> {
  const [row] = await connection.query(REQUEST_SQL, [toStoredText(key)]);
  if (row === undefined) return undefined;
  const [digest, at, log, id, seq, response] = row as [string, number, ...(string | number | null)[]];
  const made = toMadeEvent(log, id, seq);
  if (made === "damaged") throw toDamagedRow(`the request with key ${key}`);
  return {
    key,
    digest: fromStoredText(digest),
    at,
    made,
    response: typeof response === "string" ? fromStoredText(response) : undefined,
  };
}

function toMadeEvent(log: unknown, id: unknown, seq: unknown): MadeEvent | undefined | "damaged" {
  if (log === null && id === null && seq === null) return undefined;
  if ((log !== "session" && log !== "task") || typeof id !== "string" || typeof seq !== "number") return "damaged";
  return { log, id: fromStoredText(id), seq };
}

export async function upsertResponse(
  connection: PostgresConnection,
  { key, digest, at }: RequestKey,
  response: string,
): Promise<void> {
  const values = [toStoredText(key), toStoredText(digest), at, toStoredText(response)];
  await connection.query("select @keep_response($1, $2, $3::double precision, $4)", values, { bytes: response.length });
}
