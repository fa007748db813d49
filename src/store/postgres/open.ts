/** Opens the PostgreSQL store: checks the server, migrates the schema, and connects. */
import {
  checkArgument,
  limitArgument,
  objectArgument,
  optionalArgument,
  RookeryError,
  textArgument,
  type Store,
} from "../../domain/index.ts";
import { systemClock, type Clock } from "../../stdx/index.ts";
import { withCheckedArguments } from "../parameters.ts";
import { DatabaseClock } from "./database-clock.ts";
import { PostgresConnection, type PostgresConnectionOptions } from "./connection.ts";
import { parsePostgresUrl } from "./location.ts";
import { inspectSchema, migratePostgres, type PostgresSchemaState } from "./migrate.ts";
import { findPostgresRisks, type PostgresRisk } from "./risks.ts";
import { POSTGRES_MIGRATIONS, type PostgresMigration } from "./schema.ts";
import { PostgresServers } from "./servers.ts";
import { PostgresStore } from "./store.ts";
import { PostgresWatcher } from "./watcher.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`. */
  readonly url: string;
  /**
   * The schema of this installation, which is created if missing. Lower-case letters, digits and `_`. Default:
   * `rookery`.
   */
  readonly schema?: string | undefined;
  /**
   * The same database without a pooler such as PgBouncer, for notifications. Default: `url`. Behind a pooler that gives
   * each transaction another connection, followers otherwise poll every 50 ms.
   */
  readonly listenUrl?: string | undefined;
  /** Used if a URL has none. */
  readonly password?: string | undefined;
  /** How long a query may take and how long a lost connection is retried, in milliseconds. Default: 10 s. */
  readonly timeout?: number | undefined;
}

/** Settings that only tests and copies change. */
export interface PostgresInternals {
  /** Opens an unfinished copy, which has all tables. */
  readonly isUnfinished?: boolean | undefined;
  readonly migrations?: readonly PostgresMigration[] | undefined;
  /** In milliseconds. Default: 5 s. */
  readonly idleTimeout?: number | undefined;
  /** How often the connection for notifications is checked, in milliseconds. Default: 10 s. */
  readonly listenCheck?: number | undefined;
  /** How often the feed is read while notifications arrive, in milliseconds. Default: 1 s. */
  readonly pollMs?: number | undefined;
  /** The clock of this machine. */
  readonly clock?: Required<Clock> | undefined;
}

export const DEFAULT_POSTGRES_SCHEMA = "rookery";
const TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 5_000;

const STORE_OPTIONS = objectArgument({
  url: textArgument,
  listenUrl: optionalArgument(textArgument),
  schema: optionalArgument(textArgument),
  password: optionalArgument(textArgument),
  timeout: optionalArgument(limitArgument),
});

/**
 * Rejects with `input_invalid`, `config_invalid` for a wrong URL or schema, or a `store_*` error if the server cannot be
 * reached, refuses the user, is read-only, or has a newer schema.
 */
export async function openPostgresStore(
  options: PostgresStoreOptions,
  internals: PostgresInternals = {},
): Promise<Store> {
  const settings = toConnectionOptions(options, internals);
  const { schema, timeout } = settings;
  const { listenUrl, password } = options;
  const listenServers =
    listenUrl === undefined ? settings.servers : new PostgresServers(parsePostgresUrl(listenUrl, password));
  const reader = new PostgresConnection(settings);
  try {
    if (internals.isUnfinished !== true) await migratePostgres(reader, schema, internals);
  } catch (error) {
    await reader.close();
    throw error;
  }
  const watcher = new PostgresWatcher({
    reader,
    schema,
    listenCheck: internals.listenCheck,
    pollMs: internals.pollMs,
    openListener: (events) => new PostgresConnection({ ...settings, servers: listenServers, ...events }),
  });
  const clock = new DatabaseClock(internals.clock ?? systemClock);
  const [writer, worker] = [new PostgresConnection(settings), new PostgresConnection(settings)];
  return withCheckedArguments(new PostgresStore({ reader, writer, worker, watcher, clock, schema, timeout }));
}

/** The server, database and schema, without user and password. Throws like `toConnectionOptions`. */
export function describePostgresStore(options: PostgresStoreOptions): string {
  return new PostgresConnection(toConnectionOptions(options)).where;
}

export interface PostgresReport extends Omit<PostgresSchemaState, "from"> {
  /** The server, database and schema, without user and password. */
  readonly where: string;
  /** The duration of a query in milliseconds. */
  readonly latency: number;
  /** Settings that can lose events that were already shown. */
  readonly risks: readonly PostgresRisk[];
}

/** Describes the database and changes nothing. Rejects like `openPostgresStore`. */
export async function inspectPostgresStore(options: PostgresStoreOptions): Promise<PostgresReport> {
  return useOnce(options, async (connection, schema) => {
    const state = await inspectSchema(connection, schema);
    const started = performance.now();
    await connection.query("select 1");
    const latency = performance.now() - started;
    return { ...state, where: connection.where, latency, risks: await findPostgresRisks(connection) };
  });
}

/** Applies all migrations, including those that older programs cannot work with. Rejects like `openPostgresStore`. */
export async function migratePostgresStore(
  options: PostgresStoreOptions,
  internals: PostgresInternals = {},
): Promise<PostgresSchemaState & { readonly where: string }> {
  return useOnce(
    options,
    async (connection, schema) => {
      return { ...(await migratePostgres(connection, schema, { ...internals, all: true })), where: connection.where };
    },
    internals,
  );
}

async function useOnce<T>(
  options: PostgresStoreOptions,
  work: (connection: PostgresConnection, schema: string) => Promise<T>,
  internals: PostgresInternals = {},
): Promise<T> {
  const settings = toConnectionOptions(options, internals);
  const connection = new PostgresConnection(settings);
  try {
    return await work(connection, settings.schema);
  } finally {
    await connection.close();
  }
}

/** Throws `input_invalid`, or `config_invalid` for a wrong URL or schema. */
export function toConnectionOptions(
  options: PostgresStoreOptions,
  internals: PostgresInternals = {},
): PostgresConnectionOptions {
  checkArgument(options, STORE_OPTIONS, "the options of the store");
  const { url, schema = DEFAULT_POSTGRES_SCHEMA, password, timeout = TIMEOUT_MS } = options;
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema) || schema.startsWith("pg_")) {
    const rule = "use at most 51 lower-case letters, digits and underscores, not beginning with a digit or pg_";
    throw new RookeryError("config_invalid", `"${schema}" cannot be the schema of the store: ${rule}`);
  }
  const servers = new PostgresServers(parsePostgresUrl(url, password));
  const { idleTimeout = IDLE_TIMEOUT_MS, migrations = POSTGRES_MIGRATIONS } = internals;
  return { servers, schema, version: migrations.length, timeout, idleTimeout };
}
