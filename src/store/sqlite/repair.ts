/** Repairs a damaged database: saves what can be read into a new file, and puts that in the place of the old one. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isRookeryError, RookeryError, type Store } from "../../domain/index.ts";
import { findDamages, type Damage } from "./damage.ts";
import type { Database } from "./database.ts";
import { storeError } from "./errors.ts";
import { connect, openSqliteStore } from "./open.ts";
import { salvage, verifySalvaged, type Salvaged } from "./salvage.ts";
import { migrate } from "./schema.ts";

export interface StoreRepair {
  /** Empty if nothing was damaged: then nothing was changed. */
  readonly damages: readonly Damage[];
  readonly saved: {
    readonly sessions: number;
    readonly tasks: number;
    readonly events: number;
    readonly blobs: number;
  };
  /** A sentence for each thing that could not be saved. */
  readonly lost: readonly string[];
  /** Where the damaged file is now. */
  readonly damagedFile?: string | undefined;
}

/**
 * Rejects with `store_locked` while another process uses the file, and with a `store_*` error if nothing can be read,
 * the new file cannot be written, or it does not read as it was written. In all these cases nothing is replaced.
 */
export async function repairSqliteStore(file: string): Promise<StoreRepair> {
  const path = resolve(file);
  if (!existsSync(path)) throw new RookeryError("store_unavailable", `there is no ${path}: there is nothing to repair`);
  refuseIfUsed(path);
  const [source, repaired] = [`${path}.repairing-source`, `${path}.repairing`];
  removeDatabase(source); // of a repair that was killed
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

/** In this mode SQLite takes the file only if no other connection is open, and keeps others out. */
const EXCLUSIVE = "pragma busy_timeout = 0; pragma locking_mode = exclusive; begin immediate; commit";

/** Moves what is in the log beside the file into the file. Throws `store_locked`. */
function refuseIfUsed(path: string): void {
  const db = connect(path);
  try {
    db.exec(EXCLUSIVE);
  } catch (error) {
    throw isRookeryError(error, "store_locked") ? inUse(path, error) : error;
  } finally {
    db.close(); // nothing of it stays open, because no statement was prepared
  }
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw inUse(path);
}

/**
 * Opens the file by a second name, which it has until the repair ends. The lock is one of the file, so others cannot
 * open it by the first name either; and what SQLite deletes when it closes the file is not what the first name has then.
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
    throw isRookeryError(error, "store_locked") ? inUse(path, error) : storeError(error, path);
  }
}

function upgrade(db: Database): void {
  try {
    migrate(db);
  } catch (error) {
    if (!isRookeryError(error, "store_corrupt") || error.cause === undefined) throw error; // newer, or another program's
  }
}

function inUse(path: string, cause?: unknown): RookeryError {
  const message = `${path} is in use by another process: end every rookery that runs, then repair it`;
  return new RookeryError("store_locked", message, { cause });
}

async function salvageInto(path: string, db: Database, damaged: string): Promise<Salvaged> {
  removeDatabase(path); // of a repair that was killed
  try {
    const salvaged = await withStore(path, (store) => salvage(db, store));
    if (salvaged.logs.length === 0 && salvaged.blobs.length === 0) {
      const message = `no session or task of ${damaged} can be read: restore a copy, or move it away to start afresh`;
      throw new RookeryError("store_corrupt", message);
    }
    moveLogIntoFile(path);
    await withStore(path, (store) => verifySalvaged(store, salvaged));
    return salvaged;
  } catch (error) {
    removeDatabase(path);
    throw error;
  }
}

/** The file is renamed alone: nothing of it may be left in the log beside it. */
function moveLogIntoFile(path: string): void {
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

/** At every moment one of the two is at the path. Returns where the damaged one is. */
function replaceDatabase(path: string, { source, repaired }: { source: string; repaired: string }): string {
  const damagedFile = `${path}.damaged-${new Date().toISOString().replaceAll(/[-:.]/g, "")}`;
  try {
    if (existsSync(`${source}-wal`)) renameSync(`${source}-wal`, `${damagedFile}-wal`);
    renameSync(source, damagedFile);
    renameSync(repaired, path);
    syncFolder(dirname(path));
  } catch (error) {
    throw storeError(error, path);
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

function countSaved({ logs, blobs }: Salvaged): StoreRepair["saved"] {
  const sessions = logs.filter(({ kind }) => kind === "session").length;
  const events = logs.reduce((sum, { head }) => sum + head, 0);
  return { sessions, tasks: logs.length - sessions, events, blobs: blobs.length };
}
