/** The schema, as a list of migrations. */
import { randomInt } from "node:crypto";
import { isRookeryError, RookeryError } from "../../domain/index.ts";
import { decodeNumber } from "./columns.ts";
import type { Database } from "./database.ts";
import { toUnfinishedError, UNFINISHED_VERSION } from "../copy/unfinished.ts";

/** Migration n upgrades version n-1 to n. Never change a released migration: add a new one. */
export const MIGRATIONS: readonly string[] = [
  `
  create table session (
    no integer primary key,
    id text not null unique,
    head integer not null,
    agent text not null,
    cwd text not null,
    parent text,
    status text not null,
    summary text not null
  );
  create table event (
    session integer not null,
    seq integer not null,
    body text not null,
    primary key (session, seq)
  ) without rowid;
  create table append (
    session integer not null,
    id text not null,
    head integer not null,
    primary key (session, id)
  ) without rowid;
  create table lease (
    session_id text primary key,
    owner text not null,
    generation integer not null,
    until integer not null,
    released integer not null
  ) without rowid;
  create table journal (
    no integer primary key,
    session integer not null,
    turn text not null,
    step integer not null,
    kind text not null,
    id text not null,
    finished integer not null,
    value text,
    unique (session, turn, step, kind, id)
  );
  create table blob (
    hash text primary key,
    bytes blob not null
  );
  `,
  /*
   * Logs of tasks are in the same tables, under the negated number of the task. The feed has one row per log and commit:
   * the position of the last event, and the number of events. `whose` is the log of the task for everything that belongs
   * to a task, and the session's own log otherwise.
   */
  `
  create table task (
    no integer primary key,
    id text not null unique,
    head integer not null,
    phase text not null,
    repository text not null,
    agent text not null,
    lane text not null,
    priority integer not null,
    limits text not null,
    not_before integer not null,
    waiting integer not null,
    blocked integer not null,
    merging integer not null,
    removed integer not null,
    state text not null
  );
  create index task_waiting on task (lane, priority desc, no, not_before) where waiting = 1 and blocked = 0;
  create index task_phase on task (removed, phase);
  create index task_merging on task (merging) where merging = 1;
  create table need (
    needed text not null,
    task integer not null,
    primary key (needed, task)
  ) without rowid;
  alter table session add column task integer;
  create index session_task on session (task) where task is not null;
  create table feed (
    through integer primary key,
    log integer not null,
    whose integer not null,
    head integer not null,
    events integer not null
  );
  create index feed_whose on feed (whose);
  insert into feed select sum(head) over (order by no), no, no, head, head from session where head > 0;
  `,
  /* Idempotency keys: the event that completed the request, written in the same commit, and later the response. */
  `
  create table request (
    no integer primary key,
    key text not null unique,
    digest text not null,
    at integer not null,
    log text,
    id text,
    seq integer,
    response text
  );
  create index request_at on request (at);
  `,
  /* Finds sessions by the beginning of their short id: see `shortId` of domain/ids.ts. */
  `
  create index session_short_id on session (substr(substr(id, 5), -8));
  `,
  /* Records of workers, and settings that all processes agree on. */
  `
  create table worker (
    id text primary key,
    heartbeat real not null,
    until real not null,
    request text,
    record text not null
  ) without rowid;
  create table setting (
    name text primary key,
    value text not null
  ) without rowid;
  `,
  /* The last deleted sessions: see `deletions.ts`. */
  `
  create table deletion (
    no integer primary key,
    session_id text not null
  );
  `,
];

/** Migrates the file to the newest version, one transaction per step. Several processes may call this at once. */
export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  if (readSchemaVersion(db) === 0) {
    db.transaction(() => {
      refuseForeign(db); // before the file is changed
      setFileId(db); // before there is a write-ahead log, so that the header has it at once
    });
  }
  if (readSchemaVersion(db) < migrations.length) db.exec("pragma journal_mode = wal");
  while (refuseNewer(db, migrations.length) < migrations.length) {
    db.transaction(() => {
      const version = readSchemaVersion(db); // read again under the lock
      const step = migrations[version];
      if (step === undefined) return;
      db.exec(step);
      db.exec(`pragma user_version = ${version + 1}`);
    });
  }
  if (fileIdOf(db) === 0) identifyExisting(db);
}

/** A random number in the header of the file, which distinguishes it from other databases. 0 if it has none. */
export function fileIdOf(db: Database): number {
  return (decodeNumber(db.get("pragma application_id")?.[0]) ?? 0) >>> 0;
}

const MAX_FILE_ID = 2 ** 31;

function setFileId(db: Database): void {
  if (fileIdOf(db) === 0) db.exec(`pragma application_id = ${randomInt(1, MAX_FILE_ID)}`);
}

/** Adds an id to a file from an earlier version. A read-only or damaged file is used without an id. */
function identifyExisting(db: Database): void {
  try {
    db.transaction(() => setFileId(db));
    db.exec("pragma wal_checkpoint(passive)");
  } catch (error) {
    if (isRookeryError(error, "store_locked")) throw error;
  }
}

/** Throws `store_newer` if a newer program has changed the schema, or another `store_*` error. */
export function checkSchema(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  refuseNewer(db, migrations.length);
}

/** 0 for an empty file. */
export function readSchemaVersion(db: Database): number {
  return decodeNumber(db.get("pragma user_version")?.[0]) ?? 0;
}

function refuseNewer(db: Database, known: number): number {
  const version = readSchemaVersion(db);
  if (version <= known) return version;
  if (version === UNFINISHED_VERSION) throw toUnfinishedError(db.path);
  throw new RookeryError(
    "store_newer",
    `${db.path} has schema version ${version} and this program supports up to ${known}: update rookery`,
  );
}

function refuseForeign(db: Database): void {
  if (readSchemaVersion(db) > 0 || db.get("select 1 from sqlite_schema limit 1") === undefined) return;
  throw new RookeryError("store_corrupt", `${db.path} is the database of another program: choose another path`);
}
