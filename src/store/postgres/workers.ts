/** Reads and writes worker records and shared settings. */
import type { SharedSetting, StoredWorker, WorkerRequest } from "../../domain/index.ts";
import { parseStoredWorker, toWorkerRequest } from "../worker-record.ts";
import type { PostgresConnection } from "./connection.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

const SAVE_SQL = `
  insert into @worker as w (id, heartbeat, until, record)
  values ($1, $2::double precision, $3::double precision, $4)
  on conflict (id) do update set heartbeat = excluded.heartbeat, until = excluded.until, record = excluded.record
  returning w.request`;

export async function upsertWorker(
  connection: PostgresConnection,
  { heartbeat, until, ...record }: Omit<StoredWorker, "request">,
): Promise<WorkerRequest | undefined> {
  const text = JSON.stringify({ ...record, request: undefined });
  const [row] = await connection.query(SAVE_SQL, [toStoredText(record.id), heartbeat, until, text]);
  return toWorkerRequest(row?.[0] as string | null | undefined);
}

const LIST_SQL = "select record, heartbeat, until, request from @worker order by id";

export async function selectWorkers(connection: PostgresConnection): Promise<readonly StoredWorker[]> {
  const rows = await connection.query(LIST_SQL);
  return rows.flatMap(([record, heartbeat, until, request]) => {
    const row = { record: record as string, heartbeat, until, request: request as string | null };
    return parseStoredWorker(row) ?? [];
  });
}

const ASK_SQL = `
  update @worker set request = case when request = 'stop' then request else $2 end where id = $1 returning true`;

export async function updateWorkerRequest(
  connection: PostgresConnection,
  id: string,
  request: WorkerRequest,
): Promise<boolean> {
  return (await connection.query(ASK_SQL, [toStoredText(id), request])).length > 0;
}

export async function deleteWorkerRow(connection: PostgresConnection, id: string): Promise<void> {
  await connection.query("delete from @worker where id = $1", [toStoredText(id)]);
}

export async function deleteOldWorkerRows(connection: PostgresConnection, before: number): Promise<void> {
  await connection.query("delete from @worker where until < $1::double precision", [before]);
}

const AGREE_SQL = `
  insert into @setting as s (name, value) values ($1, $2)
  on conflict (name) do update set value = case when $3::boolean then excluded.value else s.value end
  returning s.value`;

export async function upsertSetting(
  connection: PostgresConnection,
  { name, value, replace = false }: SharedSetting,
): Promise<string> {
  const [row] = await connection.query(AGREE_SQL, [toStoredText(name), toStoredText(value), replace]);
  return row === undefined ? value : fromStoredText(row[0] as string);
}
