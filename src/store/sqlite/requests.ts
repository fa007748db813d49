/** Reads and writes idempotent requests: the event that completed each of them, and its response. */
import { KEPT_REQUEST_MS, MAX_KEPT_REQUESTS, type KeptRequest, type MadeEvent } from "../../domain/index.ts";
import type { RequestKey } from "../../stdx/request-key.ts";
import { toDamageError, decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Cell, Database } from "./database.ts";

const REQUEST = `
  select ${textColumn("digest")}, ${numberColumn("at")}, ${textColumn("log")}, ${textColumn("id")},
    ${numberColumn("seq")}, ${textColumn("response")}
  from request where key = ?`;

/** Throws `log_corrupt` if the row is damaged. Ignoring it could run the request twice. */
export function readRequest(db: Database, key: string): KeptRequest | undefined {
  const row = db.get(REQUEST, key);
  if (row === undefined) return undefined;
  const [digest, at] = [decodeText(row[0]), decodeNumber(row[1])];
  const made = decodeMadeEvent(row.slice(2, 5));
  const response = decodeText(row[5]);
  const isWhole = digest !== undefined && at !== undefined && (row[5] === null || response !== undefined);
  if (!isWhole || made === "damaged") throw toDamageError(db.path, `the request with key ${key}`);
  return { key, digest, at, made, response };
}

function decodeMadeEvent([logCell, idCell, seqCell]: readonly Cell[]): MadeEvent | undefined | "damaged" {
  if (logCell === null && idCell === null && seqCell === null) return undefined;
  const [log, id, seq] = [decodeText(logCell), decodeText(idCell), decodeNumber(seqCell)];
  if ((log !== "session" && log !== "task") || id === undefined || seq === undefined) return "damaged";
  return { log, id, seq };
}

/** Does nothing if the key is already known. Runs inside a transaction. */
export function writeMadeEvent(db: Database, { key, digest, at, made }: KeptRequest): void {
  deleteOldRequests(db, at);
  const sql = "insert or ignore into request (key, digest, at, log, id, seq) values (?, ?, ?, ?, ?, ?)";
  db.run(sql, key, digest, at, made?.log ?? null, made?.id ?? null, made?.seq ?? null);
}

/** Runs inside a transaction. */
export function writeResponse(db: Database, { key, digest, at }: RequestKey, response: string): void {
  deleteOldRequests(db, at);
  const sql = `
    insert into request (key, digest, at, response) values (?, ?, ?, ?)
    on conflict (key) do update set response = excluded.response where digest = excluded.digest`;
  db.run(sql, key, digest, at, response);
}

function deleteOldRequests(db: Database, now: number): void {
  db.run("delete from request where at < ?", now - KEPT_REQUEST_MS);
  db.run("delete from request where no <= (select max(no) from request) - ?", MAX_KEPT_REQUESTS - 1);
}
