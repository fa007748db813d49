/** A connection to PostgreSQL that connects when it is first used, and again after it was lost. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { RookeryError } from "../../domain/index.ts";
import { connectPostgresClient, endPostgresClient, type PostgresClientOptions } from "./client.ts";
import { isConnectionLost, isTlsUnsupported, toPostgresError } from "./errors.ts";
import { describeLocation } from "./location.ts";

export type PostgresRow = readonly unknown[];

/** The timeout is also how long a query may take, and how long lost connections are retried. */
export interface PostgresConnectionOptions extends PostgresClientOptions {
  /** The tables of the store are in this schema. SQL names them as `@table`. */
  readonly schema: string;
  readonly onNotification?: () => void;
  /** Called when an established connection is lost. */
  readonly onLost?: () => void;
}

export interface QueryOptions {
  /** The size of what the query sends or reads, which extends its timeout. Default: 0. */
  readonly bytes?: number | undefined;
}

/** A query of many bytes may take a second longer for each megabyte. */
const BYTES_PER_MS = 1_000;
/** Lets the server report that a lock was not free before the client gives up. */
const GRACE_MS = 1_000;
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

  /** The database, for messages. */
  get where(): string {
    return `${describeLocation(this.#options.location)}, schema ${this.#options.schema}`;
  }

  /** Runs one statement, which is a transaction of its own. Rejects with the error of the driver. */
  async tryQuery(
    sql: string,
    values: readonly unknown[] = [],
    { bytes = 0 }: QueryOptions = {},
  ): Promise<PostgresRow[]> {
    const client = await this.#connected();
    const query_timeout = this.#options.timeout + GRACE_MS + bytes / BYTES_PER_MS;
    const query = { ...this.#prepared(sql), values: [...values], rowMode: "array", query_timeout };
    const { rows } = await client.query(query as { text: string; rowMode: "array" });
    return rows;
  }

  /**
   * Like `tryQuery`, for statements that may run twice: repeats it while the connection is lost, until the timeout.
   * Rejects with a `store_*` error.
   */
  async query(sql: string, values: readonly unknown[] = [], options?: QueryOptions): Promise<PostgresRow[]> {
    return this.retry(() => this.tryQuery(sql, values, options));
  }

  /** Repeats the work while the connection is lost, until the timeout. Rejects with a `store_*` error. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#options.timeout;
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, MAX_RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        const isRetried = isConnectionLost(error) && !this.#closed && performance.now() < deadline;
        if (!isRetried) throw toPostgresError(error, this.where);
      }
      await delay(wait);
    }
  }

  /** Runs SQL with several statements, without parameters. */
  async run(sql: string): Promise<void> {
    const client = await this.#connected();
    await client.query({ text: this.#qualify(sql), query_timeout: MIGRATION_TIMEOUT_MS } as { text: string });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => undefined);
    if (client !== undefined) await endPostgresClient(client);
  }

  #connected(): Promise<Client> {
    if (this.#closed) {
      return Promise.reject(new RookeryError("store_closed", `${this.where} is closed: open it again`));
    }
    if (this.#client === undefined) {
      const client = this.#connect();
      this.#client = client;
      client.catch(() => this.#forget(client));
    }
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { location, onNotification } = this.#options;
    const { tls } = location;
    const client = await connectPostgresClient(this.#options, tls.mode !== "disable").catch((error: unknown) => {
      if (tls.mode === "prefer" && isTlsUnsupported(error)) return connectPostgresClient(this.#options, false);
      throw error;
    });
    const lost = this.#client;
    client.on("error", () => this.#forget(lost));
    client.on("end", () => this.#forget(lost));
    if (onNotification !== undefined) client.on("notification", () => onNotification());
    return client;
  }

  /** The next query connects again. */
  #forget(client: Promise<Client> | undefined): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    if (!this.#closed) this.#options.onLost?.();
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

const MIGRATION_TIMEOUT_MS = 10 * 60_000;

/** Replaces `@name` with the name in the schema of the store. */
export function qualifyNames(sql: string, schema: string): string {
  return sql.replaceAll(/@(\w+)/g, (_, name: string) => `"${schema}".${name}`);
}
