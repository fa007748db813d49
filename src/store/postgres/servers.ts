/** Connects to the first server of a location that accepts the connection and, if the location asks for it, writes. */
import type { Client } from "pg";
import { connectPostgresClient, DIRECT_SETTING, endPostgresClient, type PostgresClientOptions } from "./client.ts";
import { isConnectionLost, isSettingRefused, isTlsUnsupported, noWritableServer, wrongPoolSetting } from "./errors.ts";
import type { PostgresLocation } from "./location.ts";

/** Shared by all connections of a store, so that each starts with the server that another has found. */
export class PostgresServers {
  readonly location: PostgresLocation;
  /** The index of the server that was last found. */
  #current = 0;
  #isPooled = false;

  constructor(location: PostgresLocation) {
    this.location = location;
  }

  /**
   * Whether the last connection goes through a pooler that gives each transaction another server connection, such as
   * PgBouncer: prepared statements and notifications do not work then.
   */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  /** Rejects with the error of the driver. Does not try other servers if one refuses the user or the database. */
  async connect(options: Omit<PostgresClientOptions, "location" | "server">): Promise<Client> {
    const { location } = this;
    const { servers } = location;
    let failure: unknown;
    for (let tried = 0; tried < servers.length; tried += 1) {
      const index = (this.#current + tried) % servers.length;
      const server = servers[index];
      if (server === undefined) break;
      try {
        const client = await this.#connectTo({ ...options, location, server });
        this.#current = index;
        return client;
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async #connectTo(options: PostgresClientOptions): Promise<Client> {
    const client = await connectWithTlsMode(options, this.#isPooled).catch((error: unknown) => {
      if (this.#isPooled || !isSettingRefused(error)) throw error;
      return connectWithTlsMode(options, true);
    });
    try {
      const query = { text: CHECK_SQL, query_timeout: options.connectTimeout, rowMode: "array" as const };
      const { rows } = await client.query<[boolean, boolean, string | null]>(query);
      const [isDirect, isReadOnly, wrongSetting] = rows[0] ?? [false, false, null];
      if (isReadOnly && options.location.isWritable) throw noWritableServer();
      if (!isDirect && wrongSetting !== null) throw wrongPoolSetting(wrongSetting);
      this.#isPooled = !isDirect;
      return client;
    } catch (error) {
      await endPostgresClient(client);
      throw error;
    }
  }
}

/** Whether the server has our settings, and the first one that must be changed if it has not. */
const CHECK_SQL = `
  select current_setting('${DIRECT_SETTING}', true) is not distinct from 'on',
    current_setting('transaction_read_only') = 'on',
    case
      when current_setting('synchronous_commit') in ('off', 'local') then 'synchronous_commit = on'
      when current_setting('default_transaction_isolation') <> 'read committed'
        then $$default_transaction_isolation = 'read committed'$$
      when current_setting('bytea_output') <> 'hex' then 'bytea_output = hex'
      when current_setting('extra_float_digits')::integer < 1 then 'extra_float_digits = 1'
      when current_setting('standard_conforming_strings') <> 'on' then 'standard_conforming_strings = on'
    end`;

async function connectWithTlsMode(options: PostgresClientOptions, isPooled: boolean): Promise<Client> {
  const { mode } = options.location.tls;
  return connectPostgresClient(options, { isPooled, useTls: mode !== "disable" }).catch((error: unknown) => {
    if (mode !== "prefer" || !isTlsUnsupported(error)) throw error;
    return connectPostgresClient(options, { isPooled, useTls: false });
  });
}
