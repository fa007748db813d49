/**
 * Wakes followers when logs grow: directly for own commits, by LISTEN for those of other processes, and by polling in
 * any case, because a notification can be lost with its connection.
 */
import { FEED_LOG_ID, LogWaiters } from "../waiters.ts";
import type { PostgresConnection } from "./connection.ts";
import { LAST_POSITION_SQL } from "./feed-pages.ts";
import { fromStoredText, toStoredText } from "./stored-text.ts";

/** How often heads are read while notifications arrive, and while they do not. In milliseconds. */
const POLL_MS = 1_000;
const POLL_WITHOUT_LISTENING_MS = 50;

export interface WatcherOptions {
  /** For reads of heads, and for notifications after a commit. */
  readonly reader: PostgresConnection;
  /** Creates the connection that listens. It is used for nothing else. */
  openListener(events: { onNotification(): void; onLost(): void }): PostgresConnection;
  readonly schema: string;
}

export class PostgresWatcher {
  readonly #options: WatcherOptions;
  readonly #channel: string;
  readonly #waiters = new LogWaiters();
  #listener: PostgresConnection | undefined;
  #listening: Promise<void> | undefined;
  #isListening = false;
  #timer: NodeJS.Timeout | undefined;
  #check: Promise<void> | undefined;
  #isCheckWanted = false;
  #notification: Promise<void> | undefined;
  #isNotificationWanted = false;
  #closed = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#channel = `rookery_${options.schema}`.slice(0, 63); // the longest name that PostgreSQL accepts
  }

  notifyCommitted(heads: ReadonlyMap<string, number>): void {
    for (const [logId, head] of heads) this.#waiters.notifyHead(logId, head);
    this.#waiters.notifyDeleted(FEED_LOG_ID); // followers of the feed read what is new
    this.#notifyOthers();
  }

  notifyDeleted(sessionId: string): void {
    this.#waiters.notifyDeleted(sessionId);
    this.#notifyOthers();
  }

  /** Listens before it reads the heads, so that no commit is missed in between. */
  async waitForGrowth(logId: string, after: number, signal: AbortSignal): Promise<void> {
    const grown = this.#waiters.wait(logId, after, signal);
    await this.#startListening();
    this.#schedulePoll();
    await this.#checkHeads();
    await grown;
    if (this.#waiters.empty) this.#stopPolling();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopPolling();
    await Promise.all([this.#check, this.#notification, this.#listening]);
    await this.#listener?.close();
  }

  /** Resolves when notifications arrive, or when it is clear that they do not. */
  async #startListening(): Promise<void> {
    if (this.#isListening || this.#closed) return;
    this.#listener ??= this.#options.openListener({
      onNotification: () => void this.#checkHeads(),
      onLost: () => {
        this.#isListening = false;
        this.#schedulePoll();
      },
    });
    this.#listening ??= this.#listen(this.#listener).finally(() => {
      this.#listening = undefined;
    });
    await this.#listening;
  }

  async #listen(listener: PostgresConnection): Promise<void> {
    try {
      await listener.run(`listen "${this.#channel}"`);
      this.#isListening = true;
    } catch {
      this.#isListening = false; // polling is enough until the next poll tries again
    }
  }

  #schedulePoll(): void {
    this.#stopPolling();
    if (this.#closed || this.#waiters.empty) return;
    this.#timer = setTimeout(
      () => {
        void this.#startListening();
        void this.#checkHeads().then(() => this.#schedulePoll());
      },
      this.#isListening ? POLL_MS : POLL_WITHOUT_LISTENING_MS,
    );
  }

  #stopPolling(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** One query at a time. Calls during a query are answered by one more. */
  #checkHeads(): Promise<void> {
    if (this.#check !== undefined) this.#isCheckWanted = true;
    this.#check ??= this.#runChecks().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  async #runChecks(): Promise<void> {
    do {
      this.#isCheckWanted = false;
      if (this.#waiters.empty || this.#closed) return;
      const logs = this.#waiters.logs.filter((logId) => logId !== FEED_LOG_ID);
      try {
        const rows = await this.#options.reader.query(HEADS_SQL, [logs.map(toStoredText)]);
        const heads = new Map(
          rows.map(([id, head]) => [id === null ? FEED_LOG_ID : fromStoredText(id as string), head]),
        );
        for (const logId of [FEED_LOG_ID, ...logs]) {
          this.#waiters.notifyHead(logId, (heads.get(logId) as number | undefined) ?? Infinity);
        }
      } catch {
        this.#waiters.wakeAll(); // their own reads then report the error or retry
      }
    } while (this.#isCheckWanted);
  }

  /** After the commit, because a notification inside of it makes all commits wait for each other. One at a time. */
  #notifyOthers(): void {
    this.#isNotificationWanted = true;
    this.#notification ??= this.#sendNotifications().finally(() => {
      this.#notification = undefined;
    });
  }

  async #sendNotifications(): Promise<void> {
    while (this.#isNotificationWanted) {
      this.#isNotificationWanted = false;
      try {
        await this.#options.reader.tryQuery("select pg_notify($1, '')", [this.#channel]);
      } catch {
        return; // the others poll
      }
    }
  }
}

const HEADS_SQL = `
  select id, head from @session where id = any($1::text[]) union all select null, ${LAST_POSITION_SQL}`;
