/** A schema of a PostgreSQL database as the source of a copy. */
import { RookeryError } from "../../domain/index.ts";
import { PostgresConnection } from "../postgres/connection.ts";
import {
  inspectPostgresStore,
  openPostgresStore,
  toConnectionOptions,
  type PostgresStoreOptions,
} from "../postgres/open.ts";
import { refuseNewerTables } from "../postgres/migrate.ts";
import type { CopySource } from "./endpoint.ts";
import { countPostgresRows, readPostgresRows } from "./postgres-rows.ts";
import { UNFINISHED_VERSION } from "./unfinished.ts";

const UNFINISHED_SQL = `select 1 from @schema_version where version = ${UNFINISHED_VERSION}`;

/** Opens the schema like any program does, which brings it up to date. Changes nothing else. */
export async function openPostgresSource(options: PostgresStoreOptions): Promise<CopySource> {
  const { where, version } = await inspectPostgresStore(options);
  if (version === 0) {
    throw new RookeryError("store_unavailable", `${where} has no store: check the URL and the schema`);
  }
  refuseNewerTables(where, version);
  const store = await openPostgresStore(options);
  const connection = new PostgresConnection(toConnectionOptions(options));
  return {
    where,
    store,
    isUnfinished: async () => (await connection.query(UNFINISHED_SQL)).length > 0,
    readRows: (table) => readPostgresRows(connection, table),
    countRows: (table) => countPostgresRows(connection, table),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await store[Symbol.asyncDispose]();
    },
  };
}
