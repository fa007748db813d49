/** The store that a copy reads or writes, below the interface of stores: row by row. */
import type { Store } from "../../domain/index.ts";
import type { PostgresStoreOptions } from "../postgres/open.ts";
import type { SqliteStoreOptions } from "../sqlite/open.ts";
import type { CopiedRow, CopiedTable } from "./tables.ts";

/** A database file, or a schema of a PostgreSQL database. */
export type StoreLocation = Pick<SqliteStoreOptions, "path"> | PostgresStoreOptions;

export interface CopyEndpoint extends AsyncDisposable {
  /** For messages. Never has a password. */
  readonly where: string;
  /** Reads the rows of sessions and tasks that exist, in pages of bounded size. Rejects with `log_corrupt` or `store_*`. */
  readRows(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>;
  countRows(table: CopiedTable): Promise<number>;
}

export interface CopySource extends CopyEndpoint {
  readonly store: Store;
  /** Whether it is marked as an unfinished copy now. */
  isUnfinished(): Promise<boolean>;
}

export interface CopyTarget extends CopyEndpoint {
  /**
   * Creates the tables and marks the target as unfinished. Rejects with `input_invalid` if it has data, with
   * `store_unavailable` if it is an unfinished copy and `restart` is not set.
   */
  begin(restart: boolean): Promise<void>;
  /** Writes a page that `readRows` of a source returned. */
  writeRows(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  /** Opens the unfinished target as a store, to verify it. */
  open(): Promise<Store>;
  /** Removes the mark. */
  finish(): Promise<void>;
}

/** Rejects with `store_unavailable` if there is no store. */
export async function openCopySource(location: StoreLocation): Promise<CopySource> {
  if ("path" in location) {
    const { openSqliteSource } = await import("./sqlite-source.ts");
    return openSqliteSource(location.path);
  }
  const { openPostgresSource } = await import("./postgres-source.ts");
  return openPostgresSource(location);
}

export async function openCopyTarget(location: StoreLocation): Promise<CopyTarget> {
  if ("path" in location) {
    const { SqliteTarget } = await import("./sqlite-target.ts");
    return new SqliteTarget(location.path);
  }
  const { PostgresTarget } = await import("./postgres-target.ts");
  return new PostgresTarget(location);
}
