/** Wakes followers when logs grow: directly for own commits, and through the doorbell for other processes. */
import { FEED_LOG_ID, LogWaiters } from "../waiters.ts";
import type { Database } from "./database.ts";
import { Doorbell } from "./doorbell.ts";
import { readLogHeads } from "./pages.ts";

export class StoreWatcher {
  readonly #db: Database;
  readonly #bell: Doorbell;
  readonly #waiters = new LogWaiters();
  #seenVersion: unknown;
  #followers = 0;

  constructor(db: Database) {
    this.#db = db;
    this.#bell = new Doorbell(`${db.path}-bell`);
  }

  notifyCommitted(heads: ReadonlyMap<string, number>): void {
    this.#bell.ring();
    for (const [logId, head] of heads) this.#waiters.notifyHead(logId, head);
    this.#waiters.notifyDeleted(FEED_LOG_ID); // followers of the feed read what is new
  }

  notifyDeleted(sessionId: string): void {
    this.#bell.ring();
    this.#waiters.notifyDeleted(sessionId);
  }

  /** Listens before it reads the head, so that no commit is missed in between. */
  async waitForGrowth(
    logId: string,
    after: number,
    headNow: () => number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const grown = this.#waiters.wait(logId, after, signal);
    this.#bell.listen(() => this.#checkHeads());
    this.#runOrWakeAll(() => this.#waiters.notifyHead(logId, headNow() ?? Infinity));
    await grown;
    if (this.#waiters.empty) this.#bell.stopPolling();
  }

  addFollower(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      if (this.#followers === 0) this.#bell.stopWatching();
    };
  }

  close(): void {
    this.#bell.close();
  }

  #checkHeads(): void {
    if (this.#waiters.empty) return;
    this.#runOrWakeAll(() => {
      const [version] = this.#db.get("pragma data_version") ?? [];
      if (version === this.#seenVersion) return;
      const heads = readLogHeads(this.#db, this.#waiters.logs);
      for (const logId of this.#waiters.logs) this.#waiters.notifyHead(logId, heads.get(logId) ?? Infinity);
      this.#seenVersion = version;
    });
  }

  /** Wakes all waiters if the file cannot be read. Their own reads then report the error or retry. */
  #runOrWakeAll(check: () => void): void {
    try {
      check();
    } catch {
      this.#waiters.wakeAll();
    }
  }
}
