/** Who waits for the file to grow, woken by this process's commits and by the doorbell for those of others. */
import { FEED, Waiters } from "../waiters.ts";
import type { Database } from "./database.ts";
import { Doorbell } from "./doorbell.ts";
import { headsOf } from "./pages.ts";

export class Watch {
  readonly #db: Database;
  readonly #bell: Doorbell;
  readonly #waiters = new Waiters();
  #seenVersion: unknown;
  #followers = 0;

  constructor(db: Database) {
    this.#db = db;
    this.#bell = new Doorbell(`${db.path}-bell`);
  }

  committed(heads: ReadonlyMap<string, number>): void {
    this.#bell.ring();
    for (const [logId, head] of heads) this.#waiters.moved(logId, head);
    this.#waiters.gone(FEED); // whoever follows it looks for itself what is new
  }

  gone(sessionId: string): void {
    this.#bell.ring();
    this.#waiters.gone(sessionId);
  }

  /** Listens first and looks then: what is committed in between is either seen or rung for. */
  async grown(logId: string, after: number, headNow: () => number | undefined, signal: AbortSignal): Promise<void> {
    const grown = this.#waiters.wait(logId, after, signal);
    this.#bell.listen(() => this.#look());
    this.#orWakeAll(() => this.#waiters.moved(logId, headNow() ?? Infinity));
    await grown;
    if (this.#waiters.empty) this.#bell.rest();
  }

  joined(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      if (this.#followers === 0) this.#bell.ignore();
    };
  }

  close(): void {
    this.#bell.close();
  }

  #look(): void {
    if (this.#waiters.empty) return;
    this.#orWakeAll(() => {
      const [version] = this.#db.get("pragma data_version") ?? [];
      if (version === this.#seenVersion) return;
      const heads = headsOf(this.#db, this.#waiters.logs);
      for (const logId of this.#waiters.logs) this.#waiters.moved(logId, heads.get(logId) ?? Infinity);
      this.#seenVersion = version;
    });
  }

  /** Whoever waits while the file cannot be read is woken: their own read says what is wrong, or tries again. */
  #orWakeAll(look: () => void): void {
    try {
      look();
    } catch {
      this.#waiters.wakeAll();
    }
  }
}
