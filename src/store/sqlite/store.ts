/** The SQLite store: one file that all processes of a machine can share. */
import { setMaxListeners } from "node:events";
import {
  isRookeryError,
  RookeryError,
  type Append,
  type AppendAtHead,
  type Appended,
  type BlobRef,
  type ClaimedTask,
  type EventPage,
  type EventText,
  type FeedPage,
  type FeedQuery,
  type FeedText,
  type FollowQuery,
  type HeldTask,
  type JournalEntry,
  type KeptRequest,
  type Lease,
  type LeaseRequest,
  type ListQuery,
  type ReadQuery,
  type SessionEvent,
  type SessionStatus,
  type SessionSummary,
  type SharedSetting,
  type Store,
  type StoredWorker,
  type TaskAppend,
  type TaskAppendAtHead,
  type TaskClaim,
  type TaskEvent,
  type TaskFollowQuery,
  type TaskPhase,
  type TaskQuery,
  type TaskRead,
  type TaskState,
  type WorkerRequest,
} from "../../domain/index.ts";
import { nextLoopSlice } from "../../stdx/index.ts";
import type { RequestKey } from "../../stdx/request-key.ts";
import { prepareAppend, prepareTaskAppend, type LogKind } from "../admission.ts";
import { nameBlob } from "../blob.ts";
import {
  follow,
  FOLLOW_PAGE,
  followPages,
  watchChanges,
  watchHeads,
  type FollowCursor,
  type FollowSource,
} from "../follow.ts";
import {
  markLeaseReleased,
  grantLease,
  toLease,
  toLeaseBatches,
  requireCurrentLease,
  type StoredLease,
} from "../lease.ts";
import { clampLimit } from "../page.ts";
import { FEED_KEY, TASKS_KEY, toWatchKey } from "../log-watches.ts";
import { writeAtHead } from "./appends.ts";
import { claimNextTask } from "./claims.ts";
import { CommitQueue } from "./commits.ts";
import type { Database } from "./database.ts";
import { readFeedPage } from "./feed.ts";
import { deleteNextBatch, hideSession } from "./delete-session.ts";
import { retryWhileLocked } from "./lock.ts";
import { readLogHead, toLogNotFound, readPage, readTaskPage, type ReadPiece } from "./pages.ts";
import { readRequest, writeResponse } from "./requests.ts";
import { SharedPages } from "./shared-pages.ts";
import { checkSchema } from "./schema.ts";
import { listSummaries } from "./session-list.ts";
import { renewLeaseRows, writeLease, readBlob, readJournal, readLease, readSummary, writeBlob } from "./tables.ts";
import { countSessions, countTasks, queryTasks, readHeldTasks, readTask } from "./tasks.ts";
import { readEventTexts } from "./event-texts.ts";
import { StoreWatcher } from "./store-watcher.ts";
import {
  deleteOldWorkers,
  deleteWorker,
  listWorkers,
  writeSetting,
  writeWorker,
  writeWorkerRequest,
} from "./workers.ts";

/** Leases that one transaction renews, which takes about 10 ms. */
const MAX_RENEWED_LEASES = 2_000;

/** Waiting with such a watch does not keep the process alive. */
const BACKGROUND_WATCH = { keepsAlive: false };

export class SqliteStore implements Store {
  readonly #db: Database;
  readonly #lockTimeout: number;
  readonly #commitQueue: CommitQueue;
  readonly #watcher: StoreWatcher;
  readonly #pages: SharedPages;
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(db: Database, { lockTimeout }: { lockTimeout: number }) {
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    this.#watcher = new StoreWatcher(db);
    this.#pages = new SharedPages(db);
    this.#commitQueue = new CommitQueue(db, { lockTimeout, onCommit: (logs) => this.#watcher.notifyCommitted(logs) });
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async check(): Promise<void> {
    this.#refuseIfClosed();
    checkSchema(this.#db);
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#commitQueue.add(prepareAppend(append));
  }

  async appendAtHead({ sessionId, id, decide }: AppendAtHead): Promise<Appended> {
    return this.#writeAtHead({ kind: "session", logId: sessionId, id }, () => {
      const summary = readSummary(this.#db, sessionId);
      if (summary === undefined) throw toLogNotFound("session", sessionId);
      const events = decide(summary);
      return events.length === 0 ? undefined : prepareAppend({ sessionId, id, expectedHead: summary.head, events });
    });
  }

  async read(query: ReadQuery): Promise<EventPage> {
    return readPage(this.#db, query, this.#runRead);
  }

  follow(query: FollowQuery): AsyncIterable<SessionEvent> {
    return follow(
      this.#toFollowSource(query.sessionId, async (page) => (await this.read(page)).events),
      query,
    );
  }

  followText(query: FollowQuery): AsyncIterable<readonly EventText[]> {
    const { sessionId } = query;
    const shared = (page: ReadQuery & { after: number }) =>
      this.#runRead(() => this.#pages.get(`${page.after} ${sessionId}`, () => readEventTexts(this.#db, page)));
    return followPages(this.#toFollowSource(sessionId, shared), query);
  }

  followFeed({ task, ...cursor }: FeedQuery): AsyncIterable<readonly FeedText[]> {
    const feed: FollowSource<FeedText> = {
      read: async (after) => {
        let head = after;
        const read = () => {
          const page = readFeedPage(this.#db, { after, task, ...FOLLOW_PAGE });
          head = page.head;
          return page.events;
        };
        const items = await this.#runRead(() => (task === undefined ? this.#pages.get(`${after}`, read) : read()));
        return { items, through: items.at(-1)?.position ?? head };
      },
      openWatch: () => this.#watcher.open(FEED_KEY),
      closed: this.#closed.signal,
    };
    return followPages(feed, cursor);
  }

  async readFeed({ limit, ...query }: Parameters<Store["readFeed"]>[0]): Promise<FeedPage> {
    return this.#runRead(() => readFeedPage(this.#db, { ...query, limit: clampLimit(limit) }));
  }

  watchHead({ sessionId, ...cursor }: FollowQuery): AsyncIterable<number> {
    return this.#watchLog("session", sessionId, cursor);
  }

  watchTaskHead({ taskId, ...cursor }: TaskFollowQuery): AsyncIterable<number> {
    return this.#watchLog("task", taskId, cursor);
  }

  watchTasks({ signal }: { readonly signal?: AbortSignal | undefined } = {}): AsyncIterable<undefined> {
    const tasks = { openWatch: () => this.#watcher.open(TASKS_KEY, BACKGROUND_WATCH), closed: this.#closed.signal };
    return watchChanges(tasks, signal);
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#runNow(() => readSummary(this.#db, sessionId));
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return listSummaries(this.#db, query, this.#runRead);
  }

  async acquireLease(request: LeaseRequest): Promise<Lease> {
    return this.#updateLease(request.sessionId, (current) => grantLease(current, request));
  }

  async renewLeases(leases: readonly Lease[], until: number): Promise<readonly (Lease | undefined)[]> {
    this.#refuseIfClosed();
    const renewed: (Lease | undefined)[] = [];
    for (const batch of toLeaseBatches(leases, MAX_RENEWED_LEASES)) {
      renewed.push(...(await this.#runWritePiece(() => renewLeaseRows(this.#db, batch, until))));
    }
    return renewed;
  }

  async releaseLease(lease: Lease): Promise<void> {
    await this.#runWrite(() => {
      const released = markLeaseReleased(readLease(this.#db, lease.sessionId), lease);
      if (released !== undefined) writeLease(this.#db, released);
    });
  }

  async currentLease(sessionId: string): Promise<Lease | undefined> {
    return this.#runNow(() => toLease(readLease(this.#db, sessionId)));
  }

  /** Hides the session, then removes its rows. If removing them fails, a later deletion removes the rest. */
  async delete(lease: Lease): Promise<void> {
    const { sessionId } = lease;
    await this.#runWritePiece(() => {
      if (readLogHead(this.#db, "session", sessionId) === undefined) throw toLogNotFound("session", sessionId);
      requireCurrentLease(readLease(this.#db, sessionId), lease);
      hideSession(this.#db, sessionId);
    });
    this.#pages.clear();
    this.#watcher.notifyDeleted(sessionId);
    try {
      while (!(await this.#runWritePiece(() => deleteNextBatch(this.#db))))
        await new Promise((resolve) => setImmediate(resolve));
    } catch (error) {
      if (!isRookeryError(error)) throw error; // the session is hidden already
    }
  }

  async keptRequest(key: string): Promise<KeptRequest | undefined> {
    return this.#runNow(() => readRequest(this.#db, key));
  }

  async keepResponse(request: RequestKey, response: string): Promise<void> {
    await this.#runWrite(() => writeResponse(this.#db, request, response));
  }

  async journal(sessionId: string, turnId: string): Promise<readonly JournalEntry[]> {
    return this.#runRead(() => readJournal(this.#db, sessionId, turnId));
  }

  async putBlob(bytes: Uint8Array): Promise<BlobRef> {
    const ref = nameBlob(bytes);
    const kept = Uint8Array.from(bytes); // the caller may change its bytes while this waits for the lock
    await this.#runWrite(() => writeBlob(this.#db, ref.hash, kept));
    return ref;
  }

  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#runRead(() => readBlob(this.#db, hash));
  }

  async appendTask(append: TaskAppend): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#commitQueue.add(prepareTaskAppend(append));
  }

  async appendTaskAtHead({ taskId, id, decide }: TaskAppendAtHead): Promise<Appended> {
    return this.#writeAtHead({ kind: "task", logId: taskId, id }, () => {
      const state = readTask(this.#db, taskId);
      if (state === undefined) throw toLogNotFound("task", taskId);
      const events = decide(state);
      return events.length === 0 ? undefined : prepareTaskAppend({ taskId, id, expectedHead: state.head, events });
    });
  }

  async readTask(query: TaskRead): Promise<{ events: readonly TaskEvent[]; head: number }> {
    return readTaskPage(this.#db, query, this.#runRead);
  }

  async task(taskId: string): Promise<TaskState | undefined> {
    return this.#runNow(() => readTask(this.#db, taskId));
  }

  async tasks(query: TaskQuery = {}): Promise<readonly TaskState[]> {
    return queryTasks(this.#db, query, this.#runRead);
  }

  async countTasks(): Promise<Readonly<Record<TaskPhase, number>>> {
    return this.#runNow(() => countTasks(this.#db));
  }

  async countSessions(): Promise<Readonly<Record<SessionStatus, number>>> {
    return this.#runNow(() => countSessions(this.#db));
  }

  async heldTasks(): Promise<readonly HeldTask[]> {
    return this.#runNow(() => readHeldTasks(this.#db));
  }

  async claimTask(request: TaskClaim): Promise<ClaimedTask | undefined> {
    const claimed = await this.#runWrite(() => claimNextTask(this.#db, request));
    if (claimed !== undefined) {
      const { id, head } = claimed.state;
      this.#watcher.notifyCommitted([{ kind: "task", id, head }]);
    }
    return claimed;
  }

  async saveWorker(worker: Omit<StoredWorker, "request">): Promise<WorkerRequest | undefined> {
    return this.#runWrite(() => writeWorker(this.#db, worker));
  }

  async workers(): Promise<readonly StoredWorker[]> {
    return this.#runNow(() => listWorkers(this.#db));
  }

  async askWorker(id: string, request: WorkerRequest): Promise<boolean> {
    return this.#runWrite(() => writeWorkerRequest(this.#db, id, request));
  }

  async removeWorker(id: string): Promise<void> {
    await this.#runWrite(() => deleteWorker(this.#db, id));
  }

  async forgetWorkers(before: number): Promise<void> {
    await this.#runWrite(() => deleteOldWorkers(this.#db, before));
  }

  async agreeOnSetting(setting: SharedSetting): Promise<string> {
    return this.#runWrite(() => writeSetting(this.#db, setting));
  }

  /** Ends every follower, commits queued appends, and closes the file. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    await this.#commitQueue.drained();
    this.#watcher.close();
    this.#db.close();
  }

  /** Runs one piece of a long read. Its caller asks for piece after piece, which lets other work run in between. */
  readonly #runRead: ReadPiece = async (work) => {
    const slice = nextLoopSlice();
    if (slice !== undefined) await slice;
    return this.#runNow(work);
  };

  /** Runs work that is too short to wait behind readers of long logs: one row, a count, a write. */
  async #runNow<T>(work: () => T): Promise<T> {
    this.#refuseIfClosed();
    return retryWhileLocked(work, performance.now() + this.#lockTimeout);
  }

  /** Runs one write of many, so that deleting many sessions at once does not block the event loop. */
  async #runWritePiece<T>(work: () => T): Promise<T> {
    const slice = nextLoopSlice();
    if (slice !== undefined) await slice;
    return this.#runWrite(work);
  }

  async #runWrite<T>(work: () => T): Promise<T> {
    return this.#runNow(() => this.#db.transaction(work));
  }

  async #writeAtHead(
    log: Parameters<typeof writeAtHead>[1],
    prepare: Parameters<typeof writeAtHead>[2],
  ): Promise<Appended> {
    const appended = await this.#runWrite(() => writeAtHead(this.#db, log, prepare));
    const { head, repeated } = appended;
    if (!repeated) this.#watcher.notifyCommitted([{ kind: log.kind, id: log.logId, head }]);
    return appended;
  }

  #updateLease(sessionId: string, decide: (current: StoredLease | undefined) => StoredLease): Promise<Lease> {
    return this.#runWrite(() => {
      const kept = decide(readLease(this.#db, sessionId));
      writeLease(this.#db, kept);
      const { owner, generation, until } = kept;
      return { sessionId, owner, generation, until };
    });
  }

  #watchLog(kind: LogKind, id: string, cursor: FollowCursor): AsyncIterable<number> {
    const log = {
      openWatch: () => this.#watcher.open(toWatchKey(kind, id), BACKGROUND_WATCH),
      readHead: () => this.#runNow(() => readLogHead(this.#db, kind, id)),
      closed: this.#closed.signal,
    };
    return watchHeads(log, cursor);
  }

  #toFollowSource<Item extends { readonly seq: number }>(
    sessionId: string,
    readItems: (query: ReadQuery & { after: number }) => Promise<readonly Item[]>,
  ): FollowSource<Item> {
    return {
      read: async (after) => {
        const items = await readItems({ sessionId, after, ...FOLLOW_PAGE });
        return { items, through: items.at(-1)?.seq ?? after };
      },
      openWatch: () => this.#watcher.open(toWatchKey("session", sessionId)),
      closed: this.#closed.signal,
    };
  }

  #refuseIfClosed(): void {
    if (this.#closing === undefined) return;
    throw new RookeryError("store_closed", `${this.#db.path} is closed: open it again`);
  }
}
