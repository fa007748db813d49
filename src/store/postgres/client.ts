/** Connects the driver `pg`, with everything set that it would otherwise read from the environment of the process. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import type { PostgresLocation, PostgresServer } from "./location.ts";

export interface PostgresClientOptions {
  readonly location: PostgresLocation;
  /** One of the location. */
  readonly server: PostgresServer;
  /** What the server shows as the name of the connection. */
  readonly name: string;
  /** How long the server may take to accept the connection, in milliseconds. */
  readonly connectTimeout: number;
  /** How long a statement waits for a lock, in milliseconds. */
  readonly lockTimeout: number;
  /** After this time, the server ends a transaction of this client that does nothing. In milliseconds. */
  readonly idleTimeout: number;
}

export interface ClientVariant {
  readonly useTls: boolean;
  /** Whether a connection pooler refuses settings. */
  readonly isPooled: boolean;
}

const END_TIMEOUT_MS = 1_000;
/** A setting that a pooler does not pass on. Its value reveals whether the server has received the others. */
export const DIRECT_SETTING = "rookery.direct";

/** Rejects with the error of the driver. */
export async function connectPostgresClient(options: PostgresClientOptions, variant: ClientVariant): Promise<Client> {
  const { default: pg } = await import("pg"); // loaded only when PostgreSQL is used
  const client = new pg.Client(toClientConfig(options, variant));
  client.on("error", () => undefined); // queries report it; without a listener, it would end the process
  try {
    await client.connect();
  } catch (error) {
    await endPostgresClient(client);
    throw error;
  }
  return client;
}

function toClientConfig(
  { location, server, name, connectTimeout, lockTimeout, idleTimeout }: PostgresClientOptions,
  { useTls, isPooled }: ClientVariant,
): ClientConfig {
  const { user, database, password } = location;
  const { host, port } = server;
  const settings = {
    default_transaction_isolation: "read\\ committed",
    synchronous_commit: "on", // an event is shown only when it is durable
    statement_timeout: 0, // the client has a timeout for each query
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: idleTimeout,
    client_min_messages: "warning",
    bytea_output: "hex", // the driver reads text
    extra_float_digits: 1, // numbers are read as they were written
    standard_conforming_strings: "on",
    jit: "off",
    [DIRECT_SETTING]: "on",
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return {
    ...{ host, port, user, database },
    password: () => password ?? "", // a function, because `pg` ignores an empty password and looks for others
    ssl: useTls && !host.startsWith("/") ? toTlsOptions(location, host) : false,
    ...(!isPooled && { options: options.join(" ") }),
    application_name: name,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    types: { getTypeParser: (oid: number) => PARSERS[oid] ?? String },
    pipeline: true,
  };
}

function toTlsOptions({ tls }: PostgresLocation, host: string): ClientConfig["ssl"] {
  const { mode, ca, cert, key } = tls;
  const files = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  const verifies = mode === "verify-ca" || mode === "verify-full";
  return {
    ...files,
    host, // the name that the certificate is checked against
    rejectUnauthorized: verifies,
    ...(mode === "verify-ca" && { checkServerIdentity: () => undefined }),
  };
}

/** By the object id of the type. The text of other types is returned as it is. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t", // boolean
  17: (text) => Buffer.from(text.slice(2), "hex"), // bytea, because pg 8.23.1 reads only text
  20: Number, // bigint
  23: Number, // integer
  701: Number, // double precision
};

/** Does not wait for the server, which may not answer. */
export async function endPostgresClient(client: Client): Promise<void> {
  const stop = new AbortController();
  const ended = client.end().catch(() => undefined);
  await Promise.race([ended, delay(END_TIMEOUT_MS, undefined, { signal: stop.signal }).catch(() => undefined)]);
  stop.abort();
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
