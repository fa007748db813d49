/** A SQLite file as the target of a copy. */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { RookeryError, type SessionSummary, type Store, type TaskState } from "../../domain/index.ts";
import type { Database, Value } from "../sqlite/database.ts";
import { connect, openSqliteStore } from "../sqlite/open.ts";
import { migrate, MIGRATIONS, readSchemaVersion } from "../sqlite/schema.ts";
import { insertSession } from "../sqlite/session-log.ts";
import { insertTask, recountBlocked } from "../sqlite/task-log.ts";
import type { CopyTarget } from "./endpoint.ts";
import { countSqliteRows, readSqliteRows } from "./sqlite-rows.ts";
import { COPIED_TABLES, type CopiedRow, type CopiedTable } from "./tables.ts";
import { toUnfinishedError, UNFINISHED_VERSION } from "./unfinished.ts";

export class SqliteTarget implements CopyTarget {
  readonly where: string;
  #db: Database | undefined;

  constructor(path: string) {
    this.where = resolve(path);
  }

  async begin(restart: boolean): Promise<void> {
    if (readSchemaVersion(this.#connected()) === UNFINISHED_VERSION) {
      if (!restart) throw toUnfinishedError(this.where);
      this.#disconnect();
      for (const suffix of ["", "-wal", "-shm", "-bell"]) rmSync(this.where + suffix, { force: true });
    }
    const db = this.#connected();
    db.exec("pragma synchronous = full; pragma fullfsync = on");
    migrate(db);
    db.transaction(() => {
      if (COPIED_TABLES.some((table) => db.get(`select 1 from ${table} limit 1`) !== undefined)) {
        throw new RookeryError("input_invalid", `${this.where} is not empty: copy to a file that does not exist`);
      }
      setVersion(db, UNFINISHED_VERSION);
    });
  }

  async writeRows(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const db = this.#connected();
    db.transaction(() => {
      for (const row of rows) INSERTS[table](db, row);
    });
  }

  async *readRows(table: CopiedTable): AsyncGenerator<readonly CopiedRow[]> {
    yield* readSqliteRows(this.#connected(), table);
  }

  async countRows(table: CopiedTable): Promise<number> {
    return countSqliteRows(this.#connected(), table);
  }

  async open(): Promise<Store> {
    return openSqliteStore({ path: this.where }, { isUnfinished: true });
  }

  async finish(): Promise<void> {
    const db = this.#connected();
    db.transaction(() => {
      recountBlocked(db);
      setVersion(db, MIGRATIONS.length);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disconnect();
  }

  #connected(): Database {
    return (this.#db ??= connect(this.where));
  }

  #disconnect(): void {
    this.#db?.close();
    this.#db = undefined;
  }
}

function setVersion(db: Database, version: number): void {
  db.exec(`pragma user_version = ${version}`);
}

const INSERTS: Record<CopiedTable, (db: Database, row: CopiedRow) => void> = {
  task(db, [no, , state]) {
    insertTask(db, no as number, JSON.parse(state as string) as TaskState);
  },
  session(db, [no, , summary, task]) {
    insertSession(db, no as number, JSON.parse(summary as string) as SessionSummary, task as number | null);
  },
  event: insertInto("event (session, seq, body)"),
  append: insertInto("append (session, id, head)"),
  lease: insertInto("lease (session_id, owner, generation, until, released)"),
  journal: insertInto("journal (session, turn, step, kind, id, finished, value)"),
  blob: insertInto("blob (hash, bytes)"),
  request: insertInto("request (key, digest, at, log, id, seq, response)"),
  feed: insertInto("feed (through, log, whose, head, events)"),
};

function insertInto(columns: string): (db: Database, row: CopiedRow) => void {
  return (db, row) => {
    const values = row.map((cell): Value => (typeof cell === "boolean" ? Number(cell) : cell));
    db.run(`insert into ${columns} values (${row.map(() => "?").join(", ")})`, ...values);
  };
}
