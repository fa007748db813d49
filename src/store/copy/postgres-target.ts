/** A schema of a PostgreSQL database as the target of a copy. */
import { RookeryError, type SessionSummary, type Store, type TaskState } from "../../domain/index.ts";
import { BODY_SEPARATOR } from "../event-text.ts";
import { toJson, toNewSessionRow, toNewTaskRow } from "../postgres/append-rows.ts";
import { PostgresConnection } from "../postgres/connection.ts";
import { inspectSchema, migratePostgres, refuseNewerTables } from "../postgres/migrate.ts";
import { openPostgresStore, toConnectionOptions, type PostgresStoreOptions } from "../postgres/open.ts";
import type { CopyTarget } from "./endpoint.ts";
import { countPostgresRows, readPostgresRows, toRecord } from "./postgres-rows.ts";
import { COPIED_COLUMNS, COPIED_TABLES, type CopiedRow, type CopiedTable } from "./tables.ts";
import { toUnfinishedError, UNFINISHED_VERSION } from "./unfinished.ts";

export class PostgresTarget implements CopyTarget {
  readonly #options: PostgresStoreOptions;
  readonly #schema: string;
  readonly #connection: PostgresConnection;

  constructor(options: PostgresStoreOptions) {
    const settings = toConnectionOptions(options);
    this.#options = options;
    this.#schema = settings.schema;
    this.#connection = new PostgresConnection(settings);
  }

  get where(): string {
    return this.#connection.where;
  }

  async begin(restart: boolean): Promise<void> {
    const { version } = await inspectSchema(this.#connection, this.#schema, UNFINISHED_VERSION);
    if (version === UNFINISHED_VERSION) {
      if (!restart) throw toUnfinishedError(this.where);
      await this.#connection.query(`truncate ${WRITTEN_TABLES.map((table) => `@${table}`).join(", ")}`);
      await this.finish();
    }
    const migrated = await migratePostgres(this.#connection, this.#schema);
    refuseNewerTables(this.where, migrated.version);
    const marked = await this.#connection.query(MARK_SQL);
    if (marked.length > 0) return;
    throw new RookeryError("input_invalid", `${this.where} is not empty: copy to a schema that does not exist`);
  }

  async writeRows(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    if (table === "blob") {
      for (const [hash, bytes] of rows) await this.#insert(BLOB_SQL, [hash, bytes], (bytes as Uint8Array).byteLength);
      return;
    }
    const values = PARAMETERS[table]?.(rows) ?? [JSON.stringify(rows.map((row) => toRecord(table, row)))];
    const bytes = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
    await this.#insert(INSERT_SQL[table], values, bytes);
  }

  readRows(table: CopiedTable): AsyncIterable<readonly CopiedRow[]> {
    return readPostgresRows(this.#connection, table);
  }

  countRows(table: CopiedTable): Promise<number> {
    return countPostgresRows(this.#connection, table);
  }

  open(): Promise<Store> {
    return openPostgresStore(this.#options, { isUnfinished: true });
  }

  /** Numbers of logs continue after the highest one. */
  async finish(): Promise<void> {
    await this.#connection.query(FINISH_SQL);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  /** May run twice if the connection is lost, so existing rows are left alone: the verification compares them. */
  async #insert(sql: string, values: readonly unknown[], bytes: number): Promise<void> {
    await this.#connection.query(sql, values, { bytes });
  }
}

const WRITTEN_TABLES = [...COPIED_TABLES, "need", "deleted_log"];

const MARK_SQL = `
  insert into @schema_version (version) select ${UNFINISHED_VERSION}
  where ${COPIED_TABLES.map((table) => `not exists (select 1 from @${table})`).join(" and ")} returning version`;

const FINISH_SQL = `
  with numbered as (
    select setval('@log_number', last) from (
      select max(no) as last from (select no from @session union all select no from @task) logs
    ) highest where last is not null
  )
  delete from @schema_version where version = ${UNFINISHED_VERSION} and (select count(*) from numbered) >= 0`;

const BLOB_SQL = "insert into @blob (hash, bytes) values ($1, $2::bytea) on conflict do nothing";
const EVENT_SQL = `
  insert into @event (log, seq, body)
  select * from unnest($1::bigint[], $2::bigint[], string_to_array($3, E'\\x1e')) on conflict do nothing`;

/** The function of appends, which knows every column: it gets new logs without events. */
const LOGS_SQL = "select @append_group($1::json, $2::json, '{}', '{}', '', '[]', null, null, null, null)";

const INSERT_SQL: Record<Exclude<CopiedTable, "blob">, string> = {
  task: LOGS_SQL,
  session: LOGS_SQL,
  event: EVENT_SQL,
  append: buildInsertSql("append", "log bigint, id text, head bigint"),
  lease: buildInsertSql(
    "lease",
    "session_id text, owner text, generation bigint, until double precision, released boolean",
  ),
  journal: buildInsertSql(
    "journal",
    "log bigint, turn text, step integer, kind text, id text, finished boolean, value text",
  ),
  request: buildInsertSql(
    "request",
    "key text, digest text, at double precision, log text, id text, seq bigint, response text",
  ),
  feed: buildInsertSql("feed", "through bigint, log bigint, whose bigint, head bigint, events bigint"),
};

function buildInsertSql(table: CopiedTable, columns: string): string {
  const names = COPIED_COLUMNS[table].join(", ");
  return `
    insert into @${table} (${names}) select ${names} from json_to_recordset($1::json) q(${columns})
    on conflict do nothing`;
}

const PARAMETERS: Partial<Record<CopiedTable, (rows: readonly CopiedRow[]) => unknown[]>> = {
  task: (rows) => {
    return [
      null,
      toJson(rows.map(([no, , state]) => toNewTaskRow(Number(no), JSON.parse(state as string) as TaskState))),
    ];
  },
  session: (rows) => {
    const toRow = ([no, , summary, task]: CopiedRow): object =>
      toNewSessionRow(Number(no), JSON.parse(summary as string) as SessionSummary, task as number | null);
    return [toJson(rows.map(toRow)), null];
  },
  event: (rows) => [
    `{${rows.map(([log]) => log).join()}}`,
    `{${rows.map(([, seq]) => seq).join()}}`,
    rows.map(([, , body]) => body).join(BODY_SEPARATOR),
  ],
};
