/** A connection to PostgreSQL that connects when it is first used, and again after it was lost. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { RookeryError } from "../../domain/index.ts";
import { storeConnections } from "../../stdx/measurements.ts";
import { endPostgresClient } from "./client.ts";
import {
  isConnectionLost,
  isLockTimeout,
  isMissingObject,
  isReadOnlyServer,
  newerSchema,
  toPostgresError,
} from "./errors.ts";
import { describeLocation } from "./location.ts";
import type { PostgresServers } from "./servers.ts";

export type PostgresRow = readonly unknown[];

export interface PostgresConnectionOptions {
  readonly servers: PostgresServers;
  /** After this time, the server ends a transaction of this client that does nothing. In milliseconds. */
  readonly idleTimeout: number;
  /** How long a query is repeated while the connection is lost or a lock is held, in milliseconds. */
  readonly timeout: number;
  /** The tables of the store are in this schema. SQL names them as `@table`. */
  readonly schema: string;
  /** The version of the schema that this program uses. */
  readonly version: number;
  readonly onNotification?: (payload: string) => void;
  /** Called when an established connection is lost. */
  readonly onLost?: () => void;
}

export interface SchemaVersion {
  readonly version: number;
  /** The version that a program must support to use the schema: the migrations after it are additive. */
  readonly required: number;
}

export interface QueryOptions {
  /** The size of what the query sends or reads, which extends its timeout. Default: 0. */
  readonly bytes?: number | undefined;
}

/** A query of many bytes may take a second longer for each megabyte. */
const BYTES_PER_MS = 1_000;
/**
 * The part of the timeout that one attempt may wait for a lock. Less than half, so that there is time for a second attempt
 * on a new connection: only an attempt without an answer reveals that the network has forgotten a connection.
 */
const LOCK_SHARE = 0.4;
/** Lets the server report that a lock was not free before the client gives up. */
const GRACE_MS = 1_000;
/** Tables of earlier versions lack the column `additive`, so it is read through JSON. */
const VERSION_SQL = `
  select coalesce(max(version), 0),
    coalesce(max(version) filter (where (to_jsonb(v) ->> 'additive') is distinct from 'true'), 0)
  from @schema_version v`;
const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 500;

export class PostgresConnection {
  readonly #options: PostgresConnectionOptions;
  readonly #names = new Map<string, { readonly name: string; readonly text: string }>();
  #client: Promise<Client> | undefined;
  #closed = false;

  constructor(options: PostgresConnectionOptions) {
    this.#options = options;
  }

  /** Whether notifications arrive on this connection. False behind a pooler. Known when it has been used. */
  get canListen(): boolean {
    return !this.#options.servers.isPooled;
  }

  /** The database, for messages. */
  get where(): string {
    return `${describeLocation(this.#options.servers.location)}, schema ${this.#options.schema}`;
  }

  /** Runs one statement, which is a transaction of its own. Rejects with the error of the driver. */
  async tryQuery(
    sql: string,
    values: readonly unknown[] = [],
    { bytes = 0 }: QueryOptions = {},
  ): Promise<PostgresRow[]> {
    const client = await this.#connected();
    const query_timeout = this.#attemptTimeout + bytes / BYTES_PER_MS;
    const { name, text } = this.#prepared(sql);
    const named = !this.#options.servers.isPooled && { name }; // another server connection may not know the name
    const query = { ...named, text, values: [...values], rowMode: "array", query_timeout };
    try {
      const { rows } = await client.query(query as { text: string; rowMode: "array" });
      return rows;
    } catch (error) {
      if (isReadOnlyServer(error)) await endPostgresClient(client); // the next attempt looks for the primary
      if (isMissingObject(error) && sql !== VERSION_SQL) await this.#refuseNewer();
      throw error;
    }
  }

  /**
   * Like `tryQuery`, for statements that may run twice: repeats it while the connection is lost or a lock is held, until
   * the timeout. Rejects with a `store_*` error.
   */
  async query(sql: string, values: readonly unknown[] = [], options?: QueryOptions): Promise<PostgresRow[]> {
    return this.retry(() => this.tryQuery(sql, values, options));
  }

  /** Repeats the work like `query`. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#options.timeout;
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, MAX_RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        const isTransient = isConnectionLost(error) || isLockTimeout(error);
        const isRetried = isTransient && !this.#closed && performance.now() < deadline;
        if (!isRetried) throw toPostgresError(error, this.where);
      }
      await delay(wait);
    }
  }

  /** Reads the version of the schema. Rejects with the error of the driver. */
  async readVersion(): Promise<SchemaVersion> {
    const [row] = await this.tryQuery(VERSION_SQL);
    return { version: Number(row?.[0] ?? 0), required: Number(row?.[1] ?? 0) };
  }

  /** Runs SQL with several statements, without parameters. Rejects with the error of the driver. */
  async run(sql: string, timeout = this.#attemptTimeout): Promise<void> {
    const client = await this.#connected();
    await client.query({ text: this.#qualify(sql), query_timeout: timeout } as { text: string });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => undefined);
    if (client !== undefined) await endPostgresClient(client);
  }

  /** How long one attempt to connect or to run a small query may take. */
  get #attemptTimeout(): number {
    return this.#lockTimeout + GRACE_MS;
  }

  get #lockTimeout(): number {
    return Math.ceil(this.#options.timeout * LOCK_SHARE);
  }

  #connected(): Promise<Client> {
    if (this.#closed) {
      return Promise.reject(new RookeryError("store_closed", `${this.where} is closed: open it again`));
    }
    if (this.#client === undefined) {
      const client = this.#connect();
      this.#client = client;
      client.catch(() => this.#forget(client, "failed"));
    }
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { servers, idleTimeout, schema, version, onNotification } = this.#options;
    const timeouts = { connectTimeout: this.#attemptTimeout, lockTimeout: this.#lockTimeout, idleTimeout };
    const client = await servers.connect({ ...timeouts, name: connectionName(schema, version) });
    const lost = this.#client;
    client.on("error", () => this.#forget(lost, "lost"));
    client.on("end", () => this.#forget(lost, "lost"));
    storeConnections.publish({ state: "opened" });
    if (onNotification !== undefined) client.on("notification", ({ payload = "" }) => onNotification(payload));
    return client;
  }

  /** The next query connects again. */
  #forget(client: Promise<Client> | undefined, state: "failed" | "lost"): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    if (this.#closed) return;
    storeConnections.publish({ state });
    this.#options.onLost?.();
  }

  /** Rejects with `store_newer` if another program has migrated the schema since this one opened it. */
  async #refuseNewer(): Promise<void> {
    const { version: known } = this.#options;
    const { version } = await this.readVersion().catch(() => ({ version: known }));
    if (version > known) throw newerSchema(this.where, version, known);
  }

  #prepared(sql: string): { readonly name: string; readonly text: string } {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    const prepared = { name: `s${this.#names.size}`, text: this.#qualify(sql) };
    this.#names.set(sql, prepared);
    return prepared;
  }

  #qualify(sql: string): string {
    return qualifyNames(sql, this.#options.schema);
  }
}

/** How the server shows the connections of programs that use this version of a schema. At most 63 characters. */
export function connectionName(schema: string, version: number): string {
  return `rookery v${version} ${schema}`;
}

/** Replaces `@name` with the name in the schema of the store. */
export function qualifyNames(sql: string, schema: string): string {
  return sql.replaceAll(/@(\w+)/g, (_, name: string) => `"${schema}".${name}`);
}
