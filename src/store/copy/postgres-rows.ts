/** Reads the rows of a PostgreSQL schema in pages. A damaged row is an error, because its copy would hide the damage. */
import { RookeryError } from "../../domain/index.ts";
import type { PostgresConnection } from "../postgres/connection.ts";
import { fromStoredText, toStoredText } from "../postgres/stored-text.ts";
import { isEventBody, parseJson } from "./stored-json.ts";
import {
  COPIED_COLUMNS,
  countFittingRows,
  MAX_COPIED_BYTES,
  MAX_COPIED_ROWS,
  type CopiedCell,
  type CopiedRow,
  type CopiedTable,
} from "./tables.ts";

interface TableSource {
  /** The columns of the primary key, and their types. */
  readonly key: Readonly<Record<string, "bigint" | "text">>;
  /** The columns with text that may hold characters that PostgreSQL cannot: see `stored-text.ts`. */
  readonly encoded?: readonly string[];
  /** SQL for the size of a row in bytes. */
  readonly size: string;
  /** SQL for the rows to copy. Default: all. */
  readonly condition?: string;
}

/** The rows of deleted sessions are removed later than the session. */
const OF_EXISTING_LOG = `(
  exists (select 1 from @session s where s.no = rows.log) or exists (select 1 from @task t where t.no = -rows.log))`;

export const POSTGRES_TABLES: Record<CopiedTable, TableSource> = {
  task: { key: { no: "bigint" }, encoded: ["id"], size: "octet_length(state)" },
  session: { key: { no: "bigint" }, encoded: ["id"], size: "octet_length(summary)" },
  event: { key: { log: "bigint", seq: "bigint" }, size: "octet_length(body)", condition: OF_EXISTING_LOG },
  append: {
    key: { log: "bigint", id: "text" },
    encoded: ["id"],
    size: "octet_length(id)",
    condition: OF_EXISTING_LOG,
  },
  lease: { key: { session_id: "text" }, encoded: ["session_id", "owner"], size: "octet_length(owner)" },
  journal: {
    key: { no: "bigint" },
    encoded: ["turn", "id"],
    size: "octet_length(coalesce(value, ''))",
    condition: OF_EXISTING_LOG,
  },
  blob: { key: { hash: "text" }, size: "octet_length(bytes)" },
  request: {
    key: { no: "bigint" },
    encoded: ["key", "digest", "id", "response"],
    size: "octet_length(coalesce(response, ''))",
  },
  feed: { key: { through: "bigint" }, size: "0" },
};

export async function countPostgresRows(connection: PostgresConnection, table: CopiedTable): Promise<number> {
  const { condition = "true" } = POSTGRES_TABLES[table];
  const [row] = await connection.query(`select count(*) from @${table} rows where ${condition}`);
  return Number(row?.[0] ?? 0);
}

/** Rejects with `log_corrupt` if a row is damaged. */
export async function* readPostgresRows(
  connection: PostgresConnection,
  table: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const { key, size } = POSTGRES_TABLES[table];
  const keys = Object.keys(key).join(", ");
  for (let after: unknown[] = []; ;) {
    const page = buildPageSql(table, after);
    const sizes = await connection.query(`select ${keys}, ${size} ${page}`, [...after, MAX_COPIED_ROWS]);
    if (sizes.length === 0) return;
    const bytes = sizes.map((row) => Number(row.at(-1)));
    const count = countFittingRows(bytes);
    const rows = await connection.query(`select ${COPIED_COLUMNS[table].join(", ")} ${page}`, [...after, count], {
      bytes: Math.max(MAX_COPIED_BYTES, bytes[0] ?? 0),
    });
    yield rows.map((row) => decodeRow(connection.where, table, row));
    after = sizes[count - 1]?.slice(0, -1) ?? [];
  }
}

function buildPageSql(table: CopiedTable, after: readonly unknown[]): string {
  const { key, condition = "true" } = POSTGRES_TABLES[table];
  const names = Object.keys(key).join(", ");
  const values = Object.values(key).map((type, index) => `$${index + 1}::${type}`);
  const isLater = after.length === 0 ? "true" : `(${names}) > (${values.join(", ")})`;
  return `from @${table} rows where ${isLater} and ${condition} order by ${names} limit $${after.length + 1}::integer`;
}

function decodeRow(where: string, table: CopiedTable, row: readonly unknown[]): CopiedRow {
  const { encoded = [] } = POSTGRES_TABLES[table];
  const cells = COPIED_COLUMNS[table].map((name, index) => {
    const cell = row[index] as CopiedCell;
    return typeof cell === "string" && encoded.includes(name) ? fromStoredText(cell) : cell;
  });
  const [, second, text] = cells;
  const isWhole =
    table === "event"
      ? isEventBody(text as string, second as number)
      : (table !== "session" && table !== "task") ||
        (parseJson(text as string) as { id?: unknown } | undefined)?.id === second;
  if (isWhole) return cells;
  const what = table === "event" ? `event ${String(second)} of log ${String(cells[0])}` : `${table} ${String(second)}`;
  throw new RookeryError("log_corrupt", `${what} is damaged in ${where}: restore a backup of the database`);
}

/** The opposite of reading: an object per row for `json_to_recordset`. */
export function toRecord(table: CopiedTable, row: CopiedRow): Record<string, CopiedCell> {
  const { encoded = [] } = POSTGRES_TABLES[table];
  return Object.fromEntries(
    COPIED_COLUMNS[table].map((name, index) => {
      const cell = row[index] ?? null;
      return [name, typeof cell === "string" && encoded.includes(name) ? toStoredText(cell) : cell];
    }),
  );
}
