/** One connection to a SQLite file: statements prepared when first used, transactions, and errors in words. */
import type Libsql from "libsql";
import { RookeryError } from "../../domain/index.ts";
import { storeError } from "./errors.ts";
import { contentReplaced, type FileIdentity } from "./file-identity.ts";

export type Value = string | number | null | Uint8Array;
/** Text is selected as bytes: see `columns.ts`. */
export type Cell = number | null | Uint8Array;
export type Row = readonly Cell[];

export class Database {
  readonly path: string;
  readonly #connection: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();
  #open = true;
  #identity: FileIdentity | undefined;
  #readPosition: (() => number) | undefined;
  #position = 0;
  #replaced: RookeryError | undefined;

  constructor(connection: Libsql.Database, path: string) {
    this.#connection = connection;
    this.path = path;
  }

  /** From now on, a transaction is reported as committed only if the files at the path are still these. */
  watchFiles(identity: FileIdentity): void {
    this.#identity = identity;
  }

  /** `read` returns a number that never gets smaller. If it does, other content was copied into the file. */
  watchPosition(read: () => number): void {
    this.#readPosition = read;
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#say(() => this.#statement(sql).get(values) as Row | undefined);
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#say(() => this.#statement(sql).all(values) as Row[]);
  }

  run(sql: string, ...values: Value[]): void {
    this.#say(() => this.#statement(sql).run(values));
  }

  /** For what is run once: nothing is kept of it. */
  exec(sql: string): void {
    this.#say(() => this.#connection.exec(sql));
  }

  /**
   * Takes the write lock, works, and commits; or undoes all of it. Writes outside a transaction are not safe: with
   * libsql 0.5.29 a statement that failed keeps its implicit transaction, and with it the lock, until it is collected.
   */
  transaction<T>(work: () => T): T {
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

  /** What is read meanwhile is of one moment, whoever writes. */
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
  }

  /** Once the file is lost, this connection never works again: the caller must open a new one. */
  #refuseIfReplaced(): void {
    try {
      this.#identity?.check();
    } catch (error) {
      if (error instanceof RookeryError) this.#replaced = error;
      throw error;
    }
  }

  /** The last one known if it cannot be read: damage is reported to whoever reads what is damaged. */
  #currentPosition(): number {
    try {
      return this.#readPosition?.() ?? 0;
    } catch {
      return this.#position;
    }
  }

  #refuseIfOverwritten(): void {
    if (this.#currentPosition() >= this.#position) return;
    this.#replaced = contentReplaced(this.path);
    throw this.#replaced;
  }

  /** SQLite has rolled back by itself after some errors (a full disk, a failed read). */
  #rollback(): void {
    try {
      if (this.#connection.inTransaction) this.#connection.exec("rollback");
    } catch {
      // what made it necessary is thrown, and says more
    }
  }

  #statement(sql: string): Libsql.Statement {
    if (!this.#open) throw new RookeryError("store_closed", `${this.path} is closed: open it again`);
    if (this.#replaced !== undefined) throw this.#replaced;
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      if (statement.reader) statement.raw(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #say<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw storeError(error, this.path);
    }
  }
}
