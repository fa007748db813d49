/** The PostgreSQL store: one schema of a database that processes of many machines share. */
import { setMaxListeners } from "node:events";
import {
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
import { grantLease, markLeaseReleased, toLease } from "../lease.ts";
import { FEED_KEY, TASKS_KEY, toWatchKey } from "../log-watches.ts";
import { AppendQueue } from "./append-queue.ts";
import { appendAtCurrentHead, type HeadAppend } from "./at-head.ts";
import type { PostgresConnection } from "./connection.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { deleteSession, purgeDeleted } from "./deletion.ts";
import { selectFeedPage } from "./feed-pages.ts";
import { extendLeases, selectLease, updateLease } from "./leases.ts";
import { selectHead, selectSessionPage, selectTaskPage, selectTexts } from "./log-pages.ts";
import { inspectSchema } from "./migrate.ts";
import { insertBlob, selectBlob, selectJournal, selectRequest, upsertResponse } from "./records.ts";
import { selectSessionCounts, selectSummaries, selectSummary } from "./session-lists.ts";
import { SharedReads } from "./shared-reads.ts";
import { claimTaskIn } from "./task-claims.ts";
import { selectHeldTasks, selectTask, selectTaskCounts, selectTasks } from "./task-lists.ts";
import type { PostgresWatcher } from "./watcher.ts";
import {
  deleteOldWorkerRows,
  deleteWorkerRow,
  selectWorkers,
  updateWorkerRequest,
  upsertSetting,
  upsertWorker,
} from "./workers.ts";

export interface PostgresStoreParts {
  /** For reads. */
  readonly reader: PostgresConnection;
  /** For appends, which wait for the commits of other processes. */
  readonly writer: PostgresConnection;
  /** For leases, claims and deletions. */
  readonly worker: PostgresConnection;
  readonly watcher: PostgresWatcher;
  readonly clock: DatabaseClock;
  readonly schema: string;
  /** In milliseconds. */
  readonly timeout: number;
}

export class PostgresStore implements Store {
  readonly #parts: PostgresStoreParts;
  readonly #queue: AppendQueue;
  readonly #texts = new SharedReads<readonly EventText[]>();
  readonly #feeds = new SharedReads<FeedPage>();
  readonly #closed = new AbortController();
  /** Calls that have not ended. Closing waits for them. */
  readonly #running = new Set<Promise<unknown>>();
  /** Claims of this process wait for each other, because each makes the choices of the others stale. */
  #lastClaim: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts) {
    this.#parts = parts;
    this.#queue = new AppendQueue(parts.writer, {
      timeout: parts.timeout,
      onCommit: (logs) => parts.watcher.notifyCommitted(logs),
    });
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async check(): Promise<void> {
    await this.#run(({ reader, schema }) => inspectSchema(reader, schema));
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#queue.add(prepareAppend(append));
  }

  async appendAtHead({ sessionId, id, decide }: AppendAtHead): Promise<Appended> {
    const prepare = (summary: SessionSummary) => {
      const events = decide(summary);
      return events.length === 0 ? undefined : prepareAppend({ sessionId, id, expectedHead: summary.head, events });
    };
    return this.#atHead({ kind: "session", logId: sessionId, id, prepare });
  }

  async appendTask(append: TaskAppend): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#queue.add(prepareTaskAppend(append));
  }

  async appendTaskAtHead({ taskId, id, decide }: TaskAppendAtHead): Promise<Appended> {
    const prepare = (state: TaskState) => {
      const events = decide(state);
      return events.length === 0 ? undefined : prepareTaskAppend({ taskId, id, expectedHead: state.head, events });
    };
    return this.#atHead({ kind: "task", logId: taskId, id, prepare });
  }

  async read(query: ReadQuery): Promise<EventPage> {
    return this.#run(({ reader }) => selectSessionPage(reader, query));
  }

  follow(query: FollowQuery): AsyncIterable<SessionEvent> {
    const source = this.#toFollowSource(query.sessionId, async (page) => (await this.read(page)).events);
    return follow(source, query);
  }

  followText(query: FollowQuery): AsyncIterable<readonly EventText[]> {
    const { sessionId } = query;
    const readTexts = (page: ReadQuery & { after: number }) =>
      this.#run(({ reader }) =>
        this.#texts.get(`${page.after} ${sessionId}`, async () => {
          return (await selectTexts(reader, "session", sessionId, page)).texts;
        }),
      );
    return followPages(this.#toFollowSource(sessionId, readTexts), query);
  }

  followFeed({ task, ...cursor }: FeedQuery): AsyncIterable<readonly FeedText[]> {
    const feed: FollowSource<FeedText> = {
      read: async (after) => {
        const page = await this.#run(({ reader }) =>
          this.#feeds.get(`${after} ${task ?? ""}`, () => selectFeedPage(reader, { after, task, ...FOLLOW_PAGE })),
        );
        return { items: page.events, through: page.events.at(-1)?.position ?? page.head };
      },
      openWatch: () => this.#parts.watcher.open(FEED_KEY),
      closed: this.#closed.signal,
    };
    return followPages(feed, cursor);
  }

  async readFeed(query: Parameters<Store["readFeed"]>[0]): Promise<FeedPage> {
    return this.#run(({ reader }) => selectFeedPage(reader, query));
  }

  watchHead({ sessionId, ...cursor }: FollowQuery): AsyncIterable<number> {
    return this.#watchLog("session", sessionId, cursor);
  }

  watchTaskHead({ taskId, ...cursor }: TaskFollowQuery): AsyncIterable<number> {
    return this.#watchLog("task", taskId, cursor);
  }

  watchTasks({ signal }: { readonly signal?: AbortSignal | undefined } = {}): AsyncIterable<undefined> {
    const tasks = { openWatch: () => this.#parts.watcher.open(TASKS_KEY), closed: this.#closed.signal };
    return watchChanges(tasks, signal);
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#run(({ reader }) => selectSummary(reader, sessionId));
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return this.#run(({ reader }) => selectSummaries(reader, query));
  }

  async acquireLease(request: LeaseRequest): Promise<Lease> {
    const { sessionId } = request;
    return this.#runInDatabaseTime(async ({ worker, clock }) => {
      const times = { now: clock.toDatabaseTime(request.now), until: clock.toDatabaseTime(request.until) };
      const lease = await updateLease(worker, sessionId, (current) => grantLease(current, { ...request, ...times }));
      return clock.toOwnLease(toLease(lease) as Lease);
    });
  }

  async renewLeases(leases: readonly Lease[], until: number): Promise<readonly (Lease | undefined)[]> {
    return this.#runInDatabaseTime(async ({ worker, clock }) => {
      const renewed = await extendLeases(worker, leases, clock.toDatabaseTime(until));
      return renewed.map((lease) => clock.toOwnLease(lease));
    });
  }

  async releaseLease(lease: Lease): Promise<void> {
    const { sessionId } = lease;
    await this.#run(({ worker }) => updateLease(worker, sessionId, (current) => markLeaseReleased(current, lease)));
  }

  async currentLease(sessionId: string): Promise<Lease | undefined> {
    return this.#runInDatabaseTime(async ({ reader, clock }) =>
      clock.toOwnLease(toLease(await selectLease(reader, sessionId))),
    );
  }

  async delete(lease: Lease): Promise<void> {
    await this.#run(({ worker }) => deleteSession(worker, lease));
    this.#parts.watcher.notifyDeleted(lease.sessionId);
    await this.#run(({ worker }) => purgeDeleted(worker)).catch(() => undefined); // the next deletion does the rest
  }

  async keptRequest(key: string): Promise<KeptRequest | undefined> {
    return this.#run(({ reader }) => selectRequest(reader, key));
  }

  async keepResponse(request: RequestKey, response: string): Promise<void> {
    await this.#run(({ worker }) => upsertResponse(worker, request, response));
  }

  async journal(sessionId: string, turnId: string): Promise<readonly JournalEntry[]> {
    return this.#run(({ reader }) => selectJournal(reader, sessionId, turnId));
  }

  async putBlob(bytes: Uint8Array): Promise<BlobRef> {
    const ref = nameBlob(bytes);
    await this.#run(({ worker }) => insertBlob(worker, ref.hash, Uint8Array.from(bytes)));
    return ref;
  }

  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#run(({ reader }) => selectBlob(reader, hash));
  }

  async readTask(query: TaskRead): Promise<{ events: readonly TaskEvent[]; head: number }> {
    return this.#run(({ reader }) => selectTaskPage(reader, query));
  }

  async task(taskId: string): Promise<TaskState | undefined> {
    return this.#run(({ reader }) => selectTask(reader, taskId));
  }

  async tasks(query: TaskQuery = {}): Promise<readonly TaskState[]> {
    return this.#run(({ reader }) => selectTasks(reader, query));
  }

  async countTasks(): Promise<Readonly<Record<TaskPhase, number>>> {
    return this.#run(({ reader }) => selectTaskCounts(reader));
  }

  async countSessions(): Promise<Readonly<Record<SessionStatus, number>>> {
    return this.#run(({ reader }) => selectSessionCounts(reader));
  }

  async heldTasks(): Promise<readonly HeldTask[]> {
    return this.#runInDatabaseTime(async ({ reader, clock }) => {
      const held = await selectHeldTasks(reader);
      return held.map((task) => ({ ...task, lease: clock.toOwnLease(task.lease) }));
    });
  }

  async claimTask(claim: TaskClaim): Promise<ClaimedTask | undefined> {
    const claimed = await this.#runInDatabaseTime(({ worker, clock }) => {
      const times = { now: clock.toDatabaseTime(claim.now), until: clock.toDatabaseTime(claim.until) };
      const next = this.#lastClaim.then(() => claimTaskIn(worker, { ...claim, ...times, startedAt: claim.now }));
      this.#lastClaim = next.catch(() => undefined);
      return next;
    });
    if (claimed === undefined) return undefined;
    const { id, head } = claimed.state;
    this.#parts.watcher.notifyCommitted([{ kind: "task", id, head }]);
    return { ...claimed, lease: this.#parts.clock.toOwnLease(claimed.lease) };
  }

  async saveWorker(worker: Omit<StoredWorker, "request">): Promise<WorkerRequest | undefined> {
    return this.#runInDatabaseTime(({ worker: connection, clock }) => {
      const times = { heartbeat: clock.toDatabaseTime(worker.heartbeat), until: clock.toDatabaseTime(worker.until) };
      return upsertWorker(connection, { ...worker, ...times });
    });
  }

  async workers(): Promise<readonly StoredWorker[]> {
    return this.#runInDatabaseTime(async ({ reader, clock }) => {
      const workers = await selectWorkers(reader);
      return workers.map((worker) => ({
        ...worker,
        heartbeat: clock.toOwnTime(worker.heartbeat),
        until: clock.toOwnTime(worker.until),
      }));
    });
  }

  async askWorker(id: string, request: WorkerRequest): Promise<boolean> {
    return this.#run(({ worker }) => updateWorkerRequest(worker, id, request));
  }

  async removeWorker(id: string): Promise<void> {
    await this.#run(({ worker }) => deleteWorkerRow(worker, id));
  }

  async forgetWorkers(before: number): Promise<void> {
    await this.#runInDatabaseTime(({ worker, clock }) => deleteOldWorkerRows(worker, clock.toDatabaseTime(before)));
  }

  async agreeOnSetting(setting: SharedSetting): Promise<string> {
    return this.#run(({ worker }) => upsertSetting(worker, setting));
  }

  /** Ends every follower, commits queued appends, and closes the connections. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const { reader, writer, worker, watcher } = this.#parts;
    this.#closed.abort();
    await this.#queue.drained();
    await Promise.allSettled(this.#running);
    await watcher.close();
    await Promise.all([reader.close(), writer.close(), worker.close()]);
  }

  #run<T>(work: (parts: PostgresStoreParts) => Promise<T>): Promise<T> {
    this.#refuseIfClosed();
    const running = work(this.#parts);
    this.#running.add(running);
    const forget = () => this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  /** Like `#run`, for work that converts times. */
  #runInDatabaseTime<T>(work: (parts: PostgresStoreParts) => Promise<T>): Promise<T> {
    return this.#run(async (parts) => {
      await parts.clock.synchronize(parts.reader);
      return work(parts);
    });
  }

  #atHead<State extends SessionSummary | TaskState>(append: HeadAppend<State>): Promise<Appended> {
    return this.#run(({ writer: connection }) => appendAtCurrentHead({ connection, queue: this.#queue }, append));
  }

  #watchLog(kind: LogKind, id: string, cursor: FollowCursor): AsyncIterable<number> {
    const log = {
      openWatch: () => this.#parts.watcher.open(toWatchKey(kind, id)),
      readHead: () => this.#run(({ reader }) => selectHead(reader, kind, id)),
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
      openWatch: () => this.#parts.watcher.open(toWatchKey("session", sessionId)),
      closed: this.#closed.signal,
    };
  }

  #refuseIfClosed(): void {
    if (this.#closing === undefined) return;
    throw new RookeryError("store_closed", `${this.#parts.reader.where} is closed: open it again`);
  }
}
