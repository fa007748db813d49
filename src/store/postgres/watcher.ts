/**
 * Wakes followers when logs grow: directly for its own commits, through LISTEN for those of other processes, and always
 * by polling, because a notification can be lost with its connection. A poll reads what is new in the feed, so its cost
 * does not depend on the number of followers.
 */
import { isRookeryError } from "../../domain/index.ts";
import { LogWatches, type LogGrowth, type LogWatch } from "../log-watches.ts";
import type { PostgresConnection } from "./connection.ts";
import { readChangesAfter, readFeedEnd, type FeedEnd } from "./feed-changes.ts";
import { parseNotification, toNotifications } from "./notifications.ts";

/** How often the feed is read while notifications arrive, and while they do not. In milliseconds. */
const POLL_MS = 1_000;
const POLL_WITHOUT_LISTENING_MS = 50;
const LISTEN_CHECK_MS = 10_000;
const LISTEN_RETRY_MS = 500;

export interface WatcherOptions {
  /** For reads of the feed, and for notifications after a commit. */
  readonly reader: PostgresConnection;
  /** Creates the connection that listens. It is used for nothing else. */
  openListener(events: { onNotification(payload: string): void; onLost(): void }): PostgresConnection;
  readonly schema: string;
  /** How often the connection that listens is checked while a follower waits, in milliseconds. Default: 10 s. */
  readonly listenCheck?: number | undefined;
  /** How often the feed is read while notifications arrive, in milliseconds. Default: 1 s. */
  readonly pollMs?: number | undefined;
}

export class PostgresWatcher {
  readonly #options: WatcherOptions;
  readonly #channel: string;
  readonly #watches = new LogWatches({
    onWait: () => this.#schedulePoll(),
    onWake: () => {
      if (!this.#watches.isWaiting) this.#stopPolling();
    },
    onEmpty: () => (this.#seen = undefined),
  });
  #listener: PostgresConnection | undefined;
  #listening: Promise<void> | undefined;
  #isListening = false;
  /** When to listen next, by `performance.now()`. */
  #listenAt = 0;
  /** The end of the feed that the watches know of. Undefined if there are none. */
  #seen: FeedEnd | undefined;
  #starting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #check: Promise<void> | undefined;
  #isCheckWanted = false;
  #unsent: LogGrowth[] = [];
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#channel = `rookery_${options.schema}`.slice(0, 63); // the longest name that PostgreSQL accepts
  }

  notifyCommitted(logs: readonly LogGrowth[]): void {
    this.#watches.notifyGrown(logs);
    this.#notifyOthers(logs);
  }

  notifyDeleted(sessionId: string): void {
    this.#watches.notifyDeleted(sessionId);
    this.#notifyOthers([{ kind: "session", id: sessionId, head: Infinity }]);
  }

  open(key: string, options?: { readonly keepsAlive: boolean }): LogWatch {
    const watch = this.#watches.open(key, options);
    if (this.#seen === undefined) watch.ready = this.#start();
    watch.ready?.catch(() => undefined); // reported to those who wait for it
    return watch;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopPolling();
    await Promise.allSettled([this.#check, this.#sending, this.#listening, this.#starting]);
    await this.#listener?.close();
  }

  #start(): Promise<void> {
    this.#listen();
    this.#starting ??= readFeedEnd(this.#options.reader)
      .then((end) => {
        if (!this.#watches.isEmpty) this.#seen ??= end;
      })
      .finally(() => {
        this.#starting = undefined;
      });
    return this.#starting;
  }

  /**
   * Sends LISTEN, and repeats it periodically, because only a response shows that the connection still works. Does not
   * wait: followers poll until notifications arrive.
   */
  #listen(): void {
    if (this.#closed || performance.now() < this.#listenAt) return;
    this.#listener ??= this.#options.openListener({
      onNotification: (payload) => this.#handleNotification(payload),
      onLost: () => {
        this.#isListening = false;
        this.#listenAt = 0;
        this.#restartPoll();
      },
    });
    this.#listening ??= this.#runListen(this.#listener).finally(() => {
      this.#listening = undefined;
    });
  }

  async #runListen(listener: PostgresConnection): Promise<void> {
    try {
      if (!this.#isListening) await listener.run("select 1"); // connects
      if (!listener.canListen) throw new Error("a connection pooler does not pass notifications on");
      await listener.run(`listen "${this.#channel}"`);
    } catch {
      this.#isListening = false; // followers poll
      this.#listenAt = performance.now() + LISTEN_RETRY_MS;
      return;
    }
    this.#listenAt = performance.now() + (this.#options.listenCheck ?? LISTEN_CHECK_MS);
    if (this.#isListening) return;
    this.#isListening = true;
    await this.#readChanges(); // what was committed before the first notification
  }

  #handleNotification(payload: string): void {
    if (this.#watches.isEmpty) return;
    const logs = parseNotification(payload);
    if (logs === undefined) void this.#readChanges();
    else this.#watches.notifyMaybeGrown(logs); // every user of the database can send one
  }

  #schedulePoll(): void {
    if (this.#timer !== undefined || this.#closed) return;
    const pollMs = this.#options.pollMs ?? POLL_MS;
    const timer = setTimeout(
      () => {
        this.#listen();
        void this.#readChanges().then(() => {
          if (this.#timer !== timer) return; // another poll was scheduled meanwhile
          this.#timer = undefined;
          if (this.#watches.isWaiting) this.#schedulePoll();
        });
      },
      this.#isListening ? pollMs : POLL_WITHOUT_LISTENING_MS,
    );
    this.#timer = timer;
  }

  #restartPoll(): void {
    this.#stopPolling();
    if (this.#watches.isWaiting) this.#schedulePoll();
  }

  #stopPolling(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** One query at a time. Calls during a query are answered by one more. Never rejects. */
  #readChanges(): Promise<void> {
    if (this.#check !== undefined) this.#isCheckWanted = true;
    this.#check ??= this.#runChecks().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  async #runChecks(): Promise<void> {
    do {
      this.#isCheckWanted = false;
      const seen = this.#seen;
      if (seen === undefined || this.#closed) return;
      try {
        const { logs, deleted, end, isGap } = await readChangesAfter(this.#options.reader, seen);
        if (this.#seen === undefined) return;
        this.#seen = end;
        if (isGap) this.#watches.wakeAll();
        this.#watches.notifyGrown(logs);
        for (const sessionId of deleted) this.#watches.notifyDeleted(sessionId);
      } catch (error) {
        // An unreachable server has no new events. Other problems are reported by the followers' own reads.
        if (!isRookeryError(error, "store_unavailable")) this.#watches.wakeAll();
      }
    } while (this.#isCheckWanted);
  }

  /** After the commit, because a notification inside it makes all commits wait for each other. One at a time. */
  #notifyOthers(logs: readonly LogGrowth[]): void {
    for (const log of logs) this.#unsent.push(log);
    this.#sending ??= this.#sendNotifications().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendNotifications(): Promise<void> {
    while (this.#unsent.length > 0) {
      const logs = this.#unsent;
      this.#unsent = [];
      try {
        await this.#options.reader.tryQuery(NOTIFY_SQL, [this.#channel, toNotifications(logs)]);
      } catch {
        this.#unsent = []; // the others poll
      }
    }
  }
}

const NOTIFY_SQL = "select pg_notify($1, payload) from unnest($2::text[]) payload";
