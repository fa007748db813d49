/** Checks the database and brings its schema up to date. */
import { RookeryError } from "../../domain/index.ts";
import { toUnfinishedError, UNFINISHED_VERSION } from "../copy/unfinished.ts";
import { connectionName, type PostgresConnection } from "./connection.ts";
import { newerSchema, toPostgresError } from "./errors.ts";
import { POSTGRES_MIGRATIONS, type PostgresMigration } from "./schema.ts";

export interface PostgresSchemaState {
  /** Of the server, such as "18.4". */
  readonly serverVersion: string;
  /** Of the schema before the migration. 0 if there was none. */
  readonly from: number;
  readonly version: number;
}

export interface MigrationOptions {
  /** Default: false. */
  readonly all?: boolean | undefined;
  readonly migrations?: readonly PostgresMigration[] | undefined;
}

const MIN_SERVER = 15;
const MIGRATION_TIMEOUT_MS = 10 * 60_000;
/** How long to wait for a migration by another process, and for statements that use a table. */
const LOCK_TIMEOUT_MS = 60_000;

const STATE_SQL = `
  select current_setting('server_version'), current_setting('server_version_num')::integer,
    current_setting('server_encoding'), current_setting('transaction_read_only') = 'on',
    to_regclass('@schema_version') is not null,
    exists (select 1 from pg_class c where c.relnamespace = to_regnamespace($1::text) and c.relkind in ('r', 'p', 'v'))`;

/**
 * Applies the missing migrations: each in its own transaction, and one process at a time. Applies only additive ones
 * unless `all` is set. Rejects with `store_newer` or another `store_*` error.
 */
export async function migratePostgres(
  connection: PostgresConnection,
  schema: string,
  { all = false, migrations = POSTGRES_MIGRATIONS }: MigrationOptions = {},
): Promise<PostgresSchemaState> {
  const { where } = connection;
  try {
    const { serverVersion, version: from } = await inspectSchema(connection, schema, migrations.length);
    const pending = migrations.slice(from);
    if (!all && from > 0 && pending.some(({ additive }) => !additive)) {
      const advice = "stop all older processes, then run rookery migrate";
      throw new RookeryError("store_unavailable", `${where} has the older schema version ${from}: ${advice}`);
    }
    if (pending.some(({ additive }) => !additive)) await refuseOlderPrograms(connection, schema, migrations.length);
    for (const [index, migration] of pending.entries()) {
      await applyMigration(connection, schema, from + index + 1, migration);
    }
    return { serverVersion, from, version: Math.max(from, migrations.length) };
  } catch (error) {
    throw toPostgresError(error, where);
  }
}

/**
 * Reads the versions and refuses a database that this program cannot use. A newer schema is usable if the migrations
 * that this program does not know are additive: hosts are upgraded one after another. Changes nothing.
 */
export async function inspectSchema(
  connection: PostgresConnection,
  schema: string,
  known = POSTGRES_MIGRATIONS.length,
): Promise<Omit<PostgresSchemaState, "from">> {
  const { where } = connection;
  try {
    const [state] = await connection.tryQuery(STATE_SQL, [`"${schema}"`]);
    const [serverVersion, number, encoding, isReadOnly, hasVersion, hasTables] = state ?? [];
    refuseServer(where, { number: Number(number), encoding: String(encoding) });
    const { version, required } = hasVersion === true ? await connection.readVersion() : { version: 0, required: 0 };
    if (required > known) {
      throw version === UNFINISHED_VERSION ? toUnfinishedError(where) : newerSchema(where, version, known);
    }
    if (isReadOnly === true) {
      const advice = "connect to the primary server, or end the read-only mode";
      throw new RookeryError("store_readonly", `${where} is read-only: ${advice}`);
    }
    if (hasVersion !== true && hasTables === true) {
      throw new RookeryError("store_corrupt", `${where} has tables of another program: choose another schema`);
    }
    return { serverVersion: String(serverVersion), version };
  } catch (error) {
    throw toPostgresError(error, where);
  }
}

/** Throws `store_newer` if the schema has tables that this program does not know and therefore cannot copy. */
export function refuseNewerTables(where: string, version: number): void {
  const known = POSTGRES_MIGRATIONS.length;
  if (version > known) throw newerSchema(where, version, known);
}

/**
 * Refuses if programs are connected that cannot work with the result. Their connections have the version in their name,
 * which all users can see. Does not see programs behind a connection pool; they get `store_newer` afterward.
 */
async function refuseOlderPrograms(connection: PostgresConnection, schema: string, version: number): Promise<void> {
  const names = Array.from({ length: version - 1 }, (_, index) => connectionName(schema, index + 1));
  const rows = await connection.tryQuery(OLDER_SQL, [names]);
  if (rows.length === 0) return;
  const hosts = rows.map(([host, count]) => `${String(count)} from ${String(host)}`).join(", ");
  const message = `${connection.where} is in use by older programs (connections: ${hosts}): stop them, then run rookery migrate again`;
  throw new RookeryError("store_locked", message);
}

const OLDER_SQL = `
  select coalesce(host(client_addr), 'this machine'), count(*) from pg_stat_activity
  where datname = current_database() and application_name = any($1::text[]) group by 1 order by 1`;

/**
 * Does nothing if another process applied the migration meanwhile. The migration is one transaction. A table of versions
 * from before the column `additive` gets it in a transaction of its own, because it locks out everybody who reads the
 * version, and a migration may take long.
 */
async function applyMigration(
  connection: PostgresConnection,
  schema: string,
  version: number,
  { sql, additive }: PostgresMigration,
): Promise<void> {
  const isNewSchema = version === 1;
  const lock = `
    set local lock_timeout = '${LOCK_TIMEOUT_MS}';
    select pg_advisory_xact_lock(7000, hashtext('${schema}'));`;
  await connection.run(
    `
    begin;
    ${lock}
    do $column$ begin
      if exists (select 1 from pg_class where oid = to_regclass('@schema_version')) and not exists (
        select 1 from pg_attribute where attrelid = to_regclass('@schema_version') and attname = 'additive'
      ) then
        alter table @schema_version add column additive boolean not null default false;
      end if;
    end $column$;
    commit;
    begin;
    ${lock}
    ${isNewSchema ? `create schema if not exists "${schema}";` : ""}
    create table if not exists @schema_version (
      version bigint primary key,
      applied_at timestamptz not null default now(),
      additive boolean not null default false
    );
    do $migration$ begin
      if not exists (select 1 from @schema_version where version >= ${version}) then
        execute $statements$${sql}$statements$;
        insert into @schema_version (version, additive) values (${version}, ${additive});
      end if;
    end $migration$;
    commit;`,
    MIGRATION_TIMEOUT_MS,
  );
}

function refuseServer(where: string, { number, encoding }: { number: number; encoding: string }): void {
  if (number < MIN_SERVER * 10_000) {
    const version = Math.floor(number / 10_000);
    throw new RookeryError(
      "store_unavailable",
      `${where} is on PostgreSQL ${version}: use PostgreSQL ${MIN_SERVER} or newer`,
    );
  }
  if (encoding !== "UTF8") {
    const advice = "create a database with the encoding UTF8";
    throw new RookeryError("store_unavailable", `${where} has the encoding ${encoding}: ${advice}`);
  }
}
