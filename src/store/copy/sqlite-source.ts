/** A SQLite file as the source of a copy. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { connect, openSqliteStore } from "../sqlite/open.ts";
import { readSchemaVersion } from "../sqlite/schema.ts";
import type { CopySource } from "./endpoint.ts";
import { countSqliteRows, readSqliteRows } from "./sqlite-rows.ts";
import { UNFINISHED_VERSION } from "./unfinished.ts";

/** Opens the file like any program does, which brings its schema up to date. Changes nothing else. */
export async function openSqliteSource(file: string): Promise<CopySource> {
  const path = resolve(file);
  if (!existsSync(path)) throw new RookeryError("store_unavailable", `${path} does not exist: check the path`);
  const store = await openSqliteStore({ path });
  const db = connect(path);
  return {
    where: path,
    store,
    isUnfinished: async () => readSchemaVersion(db) === UNFINISHED_VERSION,
    readRows: (table) => readSqliteRows(db, table),
    countRows: async (table) => countSqliteRows(db, table),
    async [Symbol.asyncDispose]() {
      db.close();
      await store[Symbol.asyncDispose]();
    },
  };
}
