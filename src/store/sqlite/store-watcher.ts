/** Wakes followers when logs grow: directly for own commits, and through the doorbell for other processes. */
import { LogWatches, type LogGrowth, type LogWatch } from "../log-watches.ts";
import type { Database } from "./database.ts";
import { Doorbell } from "./doorbell.ts";
import { readDeletionsAfter, lastDeletion } from "./deletions.ts";
import { lastPosition, readGrownLogs } from "./feed.ts";

export class StoreWatcher {
  readonly #db: Database;
  readonly #bell: Doorbell;
  readonly #watches = new LogWatches({
    onWait: () => this.#listen(),
    onWake: () => this.#adjustTimer(),
    onEmpty: () => this.#bell.stopWatching(),
  });
  /** The commits that the watches know of: a version of the file, and the last position and deletion in it. */
  #seen: { readonly version: unknown; readonly position: number; readonly deletion: number } | undefined;

  constructor(db: Database) {
    this.#db = db;
    this.#bell = new Doorbell(`${db.path}-bell`);
  }

  notifyCommitted(logs: readonly LogGrowth[]): void {
    this.#bell.ring();
    this.#watches.notifyGrown(logs);
  }

  notifyDeleted(sessionId: string): void {
    this.#bell.ring();
    this.#watches.notifyDeleted(sessionId);
  }

  /** Starts with the commits that exist now. The caller reads its log after this. */
  open(key: string, options?: { readonly keepsAlive: boolean }): LogWatch {
    if (this.#watches.isEmpty) this.#seen = undefined;
    const watch = this.#watches.open(key, options);
    if (this.#seen === undefined) this.#runOrWakeAll(() => this.#start());
    return watch;
  }

  close(): void {
    this.#bell.close();
  }

  #start(): void {
    const version = this.#version(); // read first: a commit in between is then read twice instead of missed
    this.#seen = { version, position: lastPosition(this.#db), deletion: lastDeletion(this.#db) };
  }

  #listen(): void {
    this.#bell.listen(() => this.#check());
    this.#adjustTimer();
    this.#check();
  }

  #adjustTimer(): void {
    if (this.#watches.isWaiting) this.#bell.keepAlive(this.#watches.keepsProcessAlive);
    else this.#bell.stopPolling();
  }

  /** Reads what was committed since the last check, once for all watches. */
  #check(): void {
    if (!this.#watches.isWaiting) return;
    this.#runOrWakeAll(() => {
      if (this.#seen === undefined) {
        this.#start();
        return this.#watches.wakeAll(); // it is unknown what was committed meanwhile
      }
      const end = lastPosition(this.#db);
      const version = this.#version();
      if (version === this.#seen.version) {
        this.#seen = { ...this.#seen, position: end }; // all commits until then are our own, which were notified
        return;
      }
      const { logs, position } = readGrownLogs(this.#db, this.#seen.position);
      const { deleted, last, isGap } = readDeletionsAfter(this.#db, this.#seen.deletion);
      this.#seen = { version, position, deletion: last };
      if (isGap) return this.#watches.wakeAll();
      this.#watches.notifyGrown(logs);
      for (const sessionId of deleted) this.#watches.notifyDeleted(sessionId);
    });
  }

  #version(): unknown {
    return this.#db.get("pragma data_version")?.[0];
  }

  /** Wakes all followers if the file cannot be read. Their own reads then report the error or retry. */
  #runOrWakeAll(check: () => void): void {
    try {
      check();
    } catch {
      this.#seen = undefined;
      this.#watches.wakeAll();
    }
  }
}
