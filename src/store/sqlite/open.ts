/** Opening the SQLite store: the folder, the file, its settings and its tables. */
import { closeSync, existsSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import type Libsql from "libsql";
import {
  checkArgument,
  limitArgument,
  objectArgument,
  optionalArgument,
  textArgument,
  type Store,
} from "../../domain/index.ts";
import { makeFolder } from "../../stdx/index.ts";
import { withCheckedArguments } from "../parameters.ts";
import { Database } from "./database.ts";
import { storeError } from "./errors.ts";
import { lastPosition } from "./feed.ts";
import { FileIdentity } from "./file-identity.ts";
import { whenUnlocked } from "./lock.ts";
import { migrate } from "./schema.ts";
import { SqliteStore } from "./store.ts";

export interface SqliteStoreOptions {
  /** The file; it and its folder are made where they are missing, for their owner only. */
  readonly path: string;
  /** How long to wait, in milliseconds, while another process holds the write lock. */
  readonly lockTimeout?: number | undefined;
}

/** What only tests change. */
export interface Internals {
  readonly migrations?: readonly string[] | undefined;
  /** Run on the connection after everything else. */
  readonly pragmas?: string | undefined;
}

const LOCK_TIMEOUT_MS = 10_000;

/**
 * A commit is on the disk when it is reported (docs/adr/0002-sync-before-showing-events.md); on macOS that takes a full
 * fsync, elsewhere that setting does nothing. Nobody waits for a lock inside SQLite, because that holds up the process.
 */
const SETTINGS = `
  pragma synchronous = full;
  pragma fullfsync = on;
  pragma checkpoint_fullfsync = on;
  pragma busy_timeout = 0;
  pragma wal_autocheckpoint = 2000;
  pragma journal_size_limit = 67108864;`;

const STORE_OPTIONS = objectArgument({ path: textArgument, lockTimeout: optionalArgument(limitArgument) });

export async function openSqliteStore(options: SqliteStoreOptions, internals: Internals = {}): Promise<Store> {
  checkArgument(options, STORE_OPTIONS, "the options of the store");
  const path = resolve(options.path);
  const lockTimeout = options.lockTimeout ?? LOCK_TIMEOUT_MS;
  const db = connect(path);
  try {
    const prepare = () => {
      db.exec(SETTINGS);
      migrate(db, internals.migrations);
      if (internals.pragmas !== undefined) db.exec(internals.pragmas);
    };
    await whenUnlocked(prepare, performance.now() + lockTimeout);
    db.watchFiles(new FileIdentity(path));
    db.watchPosition(() => lastPosition(db));
    return withCheckedArguments(new SqliteStore(db, { lockTimeout }));
  } catch (error) {
    db.close();
    throw error;
  }
}

/** libsql is loaded here and not above: reading its binary takes longer than all the rest. */
export function connect(path: string): Database {
  try {
    makeFolder(dirname(path));
    closeSync(openSync(path, "a", 0o600)); // SQLite gives its other files the same mode
    return new Database(new (loadLibsql())(path), path);
  } catch (error) {
    throw storeError(error, path);
  }
}

/**
 * libsql 0.5.29 has Node write a whole report only to learn which C library this is, and that takes longer than opening
 * the file; where the loader of the GNU library stands, the answer is known.
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
