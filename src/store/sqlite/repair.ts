/** Repairs a damaged database: copies the readable content into a new file, and replaces the old file with it. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isRookeryError, RookeryError, type Store } from "../../domain/index.ts";
import { findDamages, type Damage } from "./damage.ts";
import type { Database } from "./database.ts";
import { toStoreError } from "./errors.ts";
import { connect, openSqliteStore } from "./open.ts";
import { salvage, verifySalvaged, type SalvageResult } from "./salvage.ts";
import { migrate } from "./schema.ts";

export interface StoreRepair {
  /** Empty if nothing is damaged. The file is then unchanged. */
  readonly damages: readonly Damage[];
  readonly saved: {
    readonly sessions: number;
    readonly tasks: number;
    readonly events: number;
    readonly blobs: number;
  };
  /** A description of each item that could not be saved. */
  readonly lost: readonly string[];
  /** The new path of the damaged file. */
  readonly damagedFile?: string | undefined;
}

/**
 * Rejects with `store_locked` if another process uses the file, and with a `store_*` error if nothing is readable, the
 * new file cannot be written, or verification fails. In all these cases the original file stays in place.
 */
export async function repairSqliteStore(file: string): Promise<StoreRepair> {
  const path = resolve(file);
  if (!existsSync(path)) throw new RookeryError("store_unavailable", `${path} does not exist: check the path`);
  refuseIfUsed(path);
  const [source, repaired] = [`${path}.repairing-source`, `${path}.repairing`];
  removeDatabase(source); // left over from a killed repair
  const db = openAlone(path, source);
  try {
    const damages = findDamages(db);
    if (damages.length === 0) return { damages, saved: { sessions: 0, tasks: 0, events: 0, blobs: 0 }, lost: [] };
    const salvaged = await salvageInto(repaired, db, path);
    const damagedFile = replaceDatabase(path, { source, repaired });
    return { damages, saved: countSaved(salvaged), lost: salvaged.lost, damagedFile };
  } finally {
    db.close();
    removeDatabase(source);
  }
}

/** In exclusive mode, SQLite locks the file only if no other connection is open, and keeps others out. */
const EXCLUSIVE = "pragma busy_timeout = 0; pragma locking_mode = exclusive; begin immediate; commit";

/** Also moves the write-ahead log into the file. Throws `store_locked` if another process uses the file. */
function refuseIfUsed(path: string): void {
  const db = connect(path);
  try {
    db.exec(EXCLUSIVE);
  } catch (error) {
    throw isRookeryError(error, "store_locked") ? toInUseError(path, error) : error;
  } finally {
    db.close(); // closes completely, because no statement was prepared
  }
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw toInUseError(path);
}

/**
 * Opens the file through a second hard link, which exists until the repair ends. The lock applies to the file under both
 * names. When SQLite closes the file, it deletes companion files of the second name, not of the repaired database.
 */
function openAlone(path: string, source: string): Database {
  let db: Database | undefined;
  try {
    linkSync(path, source);
    db = connect(source);
    db.exec(EXCLUSIVE);
    upgrade(db);
    return db;
  } catch (error) {
    db?.close();
    removeDatabase(source);
    throw isRookeryError(error, "store_locked") ? toInUseError(path, error) : toStoreError(error, path);
  }
}

function upgrade(db: Database): void {
  try {
    migrate(db);
  } catch (error) {
    if (!isRookeryError(error, "store_corrupt") || error.cause === undefined) throw error; // a newer schema, or the database of another program
  }
}

function toInUseError(path: string, cause?: unknown): RookeryError {
  const message = `another process uses ${path}: stop all running rookery processes, then repair it again`;
  return new RookeryError("store_locked", message, { cause });
}

async function salvageInto(path: string, db: Database, damaged: string): Promise<SalvageResult> {
  removeDatabase(path); // left over from a killed repair
  try {
    const salvaged = await withStore(path, (store) => salvage(db, store));
    if (salvaged.logs.length === 0 && salvaged.blobs.length === 0) {
      const message = `no session or task in ${damaged} is readable: restore a backup, or move the file away to start with an empty store`;
      throw new RookeryError("store_corrupt", message);
    }
    checkpointWal(path);
    await withStore(path, (store) => verifySalvaged(store, salvaged));
    return salvaged;
  } catch (error) {
    removeDatabase(path);
    throw error;
  }
}

/** Moves the write-ahead log into the file, because only the main file is renamed. */
function checkpointWal(path: string): void {
  const db = connect(path);
  try {
    const busy = db.get("pragma wal_checkpoint(truncate)")?.[0];
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (busy !== 0 || size > 0) throw new RookeryError("store_locked", `${path} is locked: try again`);
  } finally {
    db.close();
  }
}

async function withStore<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ path });
  try {
    return await work(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

/** Replaces the file atomically. Returns the new path of the damaged file. */
function replaceDatabase(path: string, { source, repaired }: { source: string; repaired: string }): string {
  const damagedFile = `${path}.damaged-${new Date().toISOString().replaceAll(/[-:.]/g, "")}`;
  try {
    if (existsSync(`${source}-wal`)) renameSync(`${source}-wal`, `${damagedFile}-wal`);
    renameSync(source, damagedFile);
    renameSync(repaired, path);
    syncFolder(dirname(path));
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    removeDatabase(repaired);
  }
  return damagedFile;
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-bell"]) rmSync(path + suffix, { force: true });
}

function countSaved({ logs, blobs }: SalvageResult): StoreRepair["saved"] {
  const sessions = logs.filter(({ kind }) => kind === "session").length;
  const events = logs.reduce((sum, { head }) => sum + head, 0);
  return { sessions, tasks: logs.length - sessions, events, blobs: blobs.length };
}
