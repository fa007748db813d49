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
  type JournalEntry,
  type KeptRequest,
  type Lease,
  type LeaseRequest,
  type ListQuery,
  type ReadQuery,
  type SessionEvent,
  type SessionSummary,
  type Store,
  type TaskAppend,
  type TaskAppendAtHead,
  type TaskClaim,
  type TaskEvent,
  type TaskPhase,
  type TaskQuery,
  type TaskRead,
  type TaskState,
} from "../../domain/index.ts";
import type { RequestKey } from "../../stdx/request-key.ts";
import { prepareAppend, prepareTaskAppend } from "../admission.ts";
import { nameBlob } from "../blob.ts";
import { follow, FOLLOW_PAGE, followPages, type FollowSource } from "../follow.ts";
import { extendLease, grantLease, markLeaseReleased, toLease } from "../lease.ts";
import { FEED_LOG_ID } from "../waiters.ts";
import { AppendQueue } from "./append-queue.ts";
import { appendAtCurrentHead, type HeadAppend } from "./at-head.ts";
import type { PostgresConnection } from "./connection.ts";
import { deleteSession, purgeDeleted } from "./deletion.ts";
import { selectFeedPage } from "./feed-pages.ts";
import { selectLease, updateLease } from "./leases.ts";
import { selectSessionPage, selectTaskPage, selectTexts } from "./log-pages.ts";
import { insertBlob, selectBlob, selectJournal, selectRequest, upsertResponse } from "./records.ts";
import { selectSummaries, selectSummary } from "./session-lists.ts";
import { SharedReads } from "./shared-reads.ts";
import { claimTaskIn } from "./task-claims.ts";
import { selectTask, selectTaskCounts, selectTasks } from "./task-lists.ts";
import type { PostgresWatcher } from "./watcher.ts";

export interface PostgresStoreParts {
  /** For reads. */
  readonly reader: PostgresConnection;
  /** For appends, which wait for the commits of other processes. */
  readonly writer: PostgresConnection;
  /** For leases, claims and deletions. */
  readonly worker: PostgresConnection;
  readonly watcher: PostgresWatcher;
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
      onCommit: (heads) => parts.watcher.notifyCommitted(heads),
    });
    setMaxListeners(0, this.#closed.signal); // one per follower
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
      waitForGrowth: (after, signal) => this.#parts.watcher.waitForGrowth(FEED_LOG_ID, after, signal),
      addFollower: () => () => undefined,
      closed: this.#closed.signal,
    };
    return followPages(feed, cursor);
  }

  async readFeed(query: Parameters<Store["readFeed"]>[0]): Promise<FeedPage> {
    return this.#run(({ reader }) => selectFeedPage(reader, query));
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#run(({ reader }) => selectSummary(reader, sessionId));
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return this.#run(({ reader }) => selectSummaries(reader, query));
  }

  async acquireLease(request: LeaseRequest): Promise<Lease> {
    const { sessionId } = request;
    const lease = await this.#run(({ worker }) =>
      updateLease(worker, sessionId, (current) => grantLease(current, request)),
    );
    return toLease(lease) as Lease;
  }

  async renewLease(lease: Lease, until: number): Promise<Lease> {
    const { sessionId } = lease;
    const renewed = await this.#run(({ worker }) =>
      updateLease(worker, sessionId, (current) => extendLease(current, lease, until)),
    );
    return toLease(renewed) as Lease;
  }

  async releaseLease(lease: Lease): Promise<void> {
    const { sessionId } = lease;
    await this.#run(({ worker }) => updateLease(worker, sessionId, (current) => markLeaseReleased(current, lease)));
  }

  async currentLease(sessionId: string): Promise<Lease | undefined> {
    return toLease(await this.#run(({ reader }) => selectLease(reader, sessionId)));
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

  async claimTask(claim: TaskClaim): Promise<ClaimedTask | undefined> {
    const claimed = await this.#run(({ worker }) => {
      const next = this.#lastClaim.then(() => claimTaskIn(worker, claim));
      this.#lastClaim = next.catch(() => undefined);
      return next;
    });
    if (claimed !== undefined) this.#parts.watcher.notifyCommitted(new Map());
    return claimed;
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

  #atHead<State extends SessionSummary | TaskState>(append: HeadAppend<State>): Promise<Appended> {
    return this.#run(({ writer: connection }) => appendAtCurrentHead({ connection, queue: this.#queue }, append));
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
      waitForGrowth: (after, signal) => this.#parts.watcher.waitForGrowth(sessionId, after, signal),
      addFollower: () => () => undefined,
      closed: this.#closed.signal,
    };
  }

  #refuseIfClosed(): void {
    if (this.#closing === undefined) return;
    throw new RookeryError("store_closed", `${this.#parts.reader.where} is closed: open it again`);
  }
}
