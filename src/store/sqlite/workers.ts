/** Reads and writes worker records and shared settings. A damaged record is left out: its worker writes it again. */
import type { SharedSetting, StoredWorker, WorkerRequest } from "../../domain/index.ts";
import { parseStoredWorker, toWorkerRequest } from "../worker-record.ts";
import { decodeNumber, decodeText, numberColumn, textColumn } from "./columns.ts";
import type { Database } from "./database.ts";

const SAVE = `
  insert into worker (id, heartbeat, until, record) values (?, ?, ?, ?)
  on conflict (id) do update set heartbeat = excluded.heartbeat, until = excluded.until, record = excluded.record
  returning ${textColumn("request")}`;

export function writeWorker(
  db: Database,
  { heartbeat, until, ...record }: Omit<StoredWorker, "request">,
): WorkerRequest | undefined {
  const row = db.get(SAVE, record.id, heartbeat, until, JSON.stringify({ ...record, request: undefined }));
  return toWorkerRequest(decodeText(row?.[0]));
}

const LIST = `
  select ${textColumn("record")}, ${numberColumn("heartbeat")}, ${numberColumn("until")}, ${textColumn("request")}
  from worker order by id`;

export function listWorkers(db: Database): StoredWorker[] {
  return db.all(LIST).flatMap(([record, heartbeat, until, request]) => {
    const times = { heartbeat: decodeNumber(heartbeat), until: decodeNumber(until) };
    return parseStoredWorker({ record: decodeText(record), ...times, request: decodeText(request) }) ?? [];
  });
}

const ASK = `
  update worker set request = case when request = 'stop' then request else ? end where id = ? returning 1`;

export function writeWorkerRequest(db: Database, id: string, request: WorkerRequest): boolean {
  return db.get(ASK, request, id) !== undefined;
}

export function deleteWorker(db: Database, id: string): void {
  db.run("delete from worker where id = ?", id);
}

export function deleteOldWorkers(db: Database, before: number): void {
  db.run("delete from worker where until < ?", before);
}

const AGREE = `
  insert into setting (name, value) values (?1, ?2)
  on conflict (name) do update set value = case when ?3 = 1 then excluded.value else value end
  returning ${textColumn("value")}`;

export function writeSetting(db: Database, { name, value, replace = false }: SharedSetting): string {
  return decodeText(db.get(AGREE, name, value, replace ? 1 : 0)?.[0]) ?? value;
}
