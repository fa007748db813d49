/** A connection to a SQLite file: caches statements, runs transactions, and converts errors to store errors. */
import { isUtf8 } from "node:buffer";
import type Libsql from "libsql";
import { RookeryError } from "../../domain/index.ts";
import type { FileDescriptor } from "./descriptors.ts";
import { toStoreError } from "./errors.ts";
import { FileIdentity, toContentReplacedError } from "./file-identity.ts";

export type Value = string | number | null | Uint8Array;
/** Text columns are selected as bytes: see `columns.ts`. */
export type Cell = number | null | Uint8Array;
export type Row = readonly Cell[];

export class Database {
  readonly path: string;
  readonly #descriptor: FileDescriptor | undefined;
  readonly #connection: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();
  #open = true;
  #identity: FileIdentity | undefined;
  #readPosition: (() => number) | undefined;
  #position = 0;
  #replaced: RookeryError | undefined;
  #isSchemaChecked = false;

  /** `descriptor` must be for the same file. The connection closes it. */
  constructor(connection: Libsql.Database, path: string, descriptor?: FileDescriptor) {
    this.#connection = connection;
    this.path = path;
    this.#descriptor = descriptor;
  }

  /** From now on, `transaction` throws `store_replaced` if the files at the path are no longer the same. */
  watchFiles(fileId: number): void {
    const descriptor = this.#descriptor;
    if (descriptor !== undefined) this.#identity = new FileIdentity({ path: this.path, descriptor, fileId });
  }

  /** `read` returns a number that never decreases, unless older content was copied into the file. */
  watchPosition(read: () => number): void {
    this.#readPosition = read;
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#withStoreErrors(() => this.#statement(sql).get(values) as Row | undefined);
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#withStoreErrors(() => this.#statement(sql).all(values) as Row[]);
  }

  run(sql: string, ...values: Value[]): void {
    this.#withStoreErrors(() => this.#statement(sql).run(values));
  }

  /** For SQL that runs once. Does not cache a statement. */
  exec(sql: string): void {
    this.#withStoreErrors(() => this.#connection.exec(sql));
  }

  /**
   * Takes the write lock, runs the work, and commits, or rolls back on an error. Always write inside a transaction: in
   * libsql 0.5.29, a failed statement keeps its implicit transaction and its lock until it is garbage collected.
   */
  transaction<T>(work: () => T): T {
    this.#refuseIfReplaced((identity) => identity.checkHeader()); // before this process writes into another database
    this.run("begin immediate");
    try {
      this.#refuseIfOverwritten();
      const result = work();
      const position = this.#currentPosition();
      this.run("commit");
      this.#refuseIfReplaced();
      this.#position = position;
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  /** All reads inside `work` see the same state, even if others write. */
  snapshot<T>(work: () => T): T {
    this.run("begin");
    try {
      return work();
    } finally {
      this.#rollback();
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    this.#connection.close();
    this.#descriptor?.[Symbol.dispose]();
  }

  /** After the file is lost, every later call on this connection throws. The caller must open a new one. */
  #refuseIfReplaced(check: (identity: FileIdentity) => void = (identity) => identity.check()): void {
    if (this.#identity === undefined || this.#replaced !== undefined || !this.#open) return; // the next statement reports it
    try {
      check(this.#identity);
    } catch (error) {
      if (error instanceof RookeryError) this.#replaced = error;
      throw error;
    }
  }

  /** Falls back to the last known position on an error. Reads of the damaged data report the damage. */
  #currentPosition(): number {
    try {
      return this.#readPosition?.() ?? 0;
    } catch {
      return this.#position;
    }
  }

  #refuseIfOverwritten(): void {
    if (this.#currentPosition() >= this.#position) return;
    this.#replaced = toContentReplacedError(this.path);
    throw this.#replaced;
  }

  /** After some errors (a full disk, a failed read), SQLite has already rolled back. */
  #rollback(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.exec("rollback");
    } catch {
      // the error that caused the rollback is more useful
    }
  }

  #statement(sql: string): Libsql.Statement {
    if (!this.#open) throw new RookeryError("store_closed", `${this.path} is closed: open it again`);
    if (this.#replaced !== undefined) throw this.#replaced;
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      this.#checkSchema();
      statement = this.#connection.prepare(sql);
      if (statement.reader) statement.raw(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** libsql 0.5.29 aborts the process at a query of a column whose declared type or name is not valid UTF-8. */
  #checkSchema(): void {
    if (this.#isSchemaChecked) return;
    const sources = this.#connection.prepare("select cast(sql as blob) from sqlite_schema").raw(true).all() as Row[];
    const isDamaged = sources.some(([source]) => source instanceof Uint8Array && !isUtf8(source));
    if (isDamaged) {
      const message = `the definition of a table is damaged in ${this.path}: restore a backup, or move the file away to start with an empty store`;
      throw new RookeryError("store_corrupt", message);
    }
    this.#isSchemaChecked = true;
  }

  #withStoreErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const failure = toStoreError(error, this.path);
      if (failure.code === "store_corrupt") this.#refuseIfReplaced(); // a replaced file looks damaged
      throw failure;
    }
  }
}
