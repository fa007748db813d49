/** Opens the SQLite store: creates the folder and the file, applies settings, and migrates the schema. */
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import type Libsql from "libsql";
import {
  checkArgument,
  limitArgument,
  objectArgument,
  optionalArgument,
  RookeryError,
  textArgument,
  type Store,
} from "../../domain/index.ts";
import { makeFolder } from "../../stdx/index.ts";
import { withCheckedArguments } from "../parameters.ts";
import { Database } from "./database.ts";
import { openDescriptor, type FileDescriptor } from "./descriptors.ts";
import { toStoreError } from "./errors.ts";
import { lastPosition } from "./feed.ts";
import { retryWhileLocked } from "./lock.ts";
import { fileIdOf, migrate } from "./schema.ts";
import { SqliteStore } from "./store.ts";

export interface SqliteStoreOptions {
  /** The database file. It and its folder are created if missing, accessible to their owner only. */
  readonly path: string;
  /** How long to wait for the write lock of another process, in milliseconds. Default: 10 s. */
  readonly lockTimeout?: number | undefined;
}

/** Settings that only tests and copies change. */
export interface Internals {
  readonly migrations?: readonly string[] | undefined;
  /** SQL that runs on the connection after all other settings. */
  readonly pragmas?: string | undefined;
  /** Opens an unfinished copy, which has all tables. */
  readonly isUnfinished?: boolean | undefined;
}

const LOCK_TIMEOUT_MS = 10_000;

/**
 * A commit is on disk when it is acknowledged (docs/adr/0002-sync-before-showing-events.md). `fullfsync` matters only on
 * macOS. The busy timeout is 0, because waiting inside SQLite would block the event loop.
 */
const SETTINGS = `
  pragma synchronous = full;
  pragma fullfsync = on;
  pragma checkpoint_fullfsync = on;
  pragma busy_timeout = 0;
  pragma wal_autocheckpoint = 2000;
  pragma journal_size_limit = 67108864;`;

const STORE_OPTIONS = objectArgument({ path: textArgument, lockTimeout: optionalArgument(limitArgument) });

/** Rejects with `input_invalid`, or a `store_*` error if the file cannot be opened, is damaged, or has a newer schema. */
export async function openSqliteStore(options: SqliteStoreOptions, internals: Internals = {}): Promise<Store> {
  checkArgument(options, STORE_OPTIONS, "the options of the store");
  const path = resolve(options.path);
  const lockTimeout = options.lockTimeout ?? LOCK_TIMEOUT_MS;
  const db = connect(path);
  try {
    const prepare = () => {
      db.exec(SETTINGS);
      if (internals.isUnfinished !== true) migrate(db, internals.migrations);
      if (internals.pragmas !== undefined) db.exec(internals.pragmas);
    };
    await retryWhileLocked(prepare, performance.now() + lockTimeout);
    db.watchFiles(fileIdOf(db));
    db.watchPosition(() => lastPosition(db));
    return withCheckedArguments(new SqliteStore(db, { lockTimeout }));
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Loads libsql lazily, because loading its binary takes longer than the rest of the startup. */
export function connect(path: string): Database {
  let descriptor: FileDescriptor | undefined;
  try {
    makeFolder(dirname(path));
    refuseEmptied(path);
    descriptor = openDescriptor(path);
    return new Database(new (loadLibsql())(path), path, descriptor);
  } catch (error) {
    descriptor?.[Symbol.dispose]();
    throw toStoreError(error, path);
  }
}

/** SQLite deletes the write-ahead log of an empty file, and all events in it. */
function refuseEmptied(path: string): void {
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size;
  if (size(path) !== 0 || (size(`${path}-wal`) ?? 0) === 0) return;
  const what = `${path} is empty, but its write-ahead log (${path}-wal) is not`;
  throw new RookeryError(
    "store_corrupt",
    `${what}: restore a backup of the file, or move both away to start with an empty store`,
  );
}

/**
 * libsql 0.5.29 creates a Node diagnostic report to detect the C library, which takes longer than opening the file.
 * If the loader of glibc exists, a stub report gives the answer.
 */
function loadLibsql(): typeof Libsql {
  const load = () => createRequire(import.meta.url)("libsql") as typeof Libsql;
  if (!GNU_LOADERS.some((path) => existsSync(path))) return load();
  const getReport = process.report.getReport.bind(process.report);
  process.report.getReport = () => ({ header: { glibcVersionRuntime: "known" } });
  try {
    return load();
  } finally {
    process.report.getReport = getReport;
  }
}

const GNU_LOADERS = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
