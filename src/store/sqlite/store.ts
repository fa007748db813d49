/** The store in one SQLite file, shared by every process of the machine that opens it. */
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
import { nextLoopSlice } from "../../stdx/index.ts";
import type { RequestKey } from "../../stdx/request-key.ts";
import { prepareAppend, prepareTaskAppend } from "../admission.ts";
import { nameBlob } from "../blob.ts";
import { follow, FOLLOW_PAGE, followPages, type Followed } from "../follow.ts";
import { endLease, extendLease, grantLease, leaseOf, stillCurrent, type KeptLease } from "../lease.ts";
import { clampLimit } from "../page.ts";
import { FEED } from "../waiters.ts";
import { writeAtHead } from "./appends.ts";
import { claim } from "./claims.ts";
import { Commits } from "./commits.ts";
import type { Database } from "./database.ts";
import { lastPosition, readFeedPage } from "./feed.ts";
import { forgetSome, hideSession } from "./forgetting.ts";
import { whenUnlocked } from "./lock.ts";
import { headOf, notFound, readPage, readTaskPage, type ReadPiece } from "./pages.ts";
import { readRequest, writeResponse } from "./requests.ts";
import { SharedPages } from "./shared-pages.ts";
import { keepLease, listSummaries, readBlob, readJournal, readLease, readSummary, writeBlob } from "./tables.ts";
import { countTasks, listTasks, readTask } from "./tasks.ts";
import { readTexts } from "./texts.ts";
import { Watch } from "./watch.ts";

export class SqliteStore implements Store {
  readonly #db: Database;
  readonly #lockTimeout: number;
  readonly #commits: Commits;
  readonly #watch: Watch;
  readonly #pages: SharedPages;
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(db: Database, { lockTimeout }: { lockTimeout: number }) {
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    this.#watch = new Watch(db);
    this.#pages = new SharedPages(db);
    this.#commits = new Commits(db, { lockTimeout, onCommit: (heads) => this.#watch.committed(heads) });
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#commits.add(prepareAppend(append));
  }

  async appendAtHead({ sessionId, id, decide }: AppendAtHead): Promise<Appended> {
    return this.#writingAtHead({ kind: "session", logId: sessionId, id }, () => {
      const summary = readSummary(this.#db, sessionId);
      if (summary === undefined) throw notFound("session", sessionId);
      const events = decide(summary);
      return events.length === 0 ? undefined : prepareAppend({ sessionId, id, expectedHead: summary.head, events });
    });
  }

  async read(query: ReadQuery): Promise<EventPage> {
    return readPage(this.#db, query, this.#reading);
  }

  follow(query: FollowQuery): AsyncIterable<SessionEvent> {
    return follow(
      this.#following(query.sessionId, async (page) => (await this.read(page)).events),
      query,
    );
  }

  followText(query: FollowQuery): AsyncIterable<readonly EventText[]> {
    const { sessionId } = query;
    const shared = (page: ReadQuery & { after: number }) =>
      this.#reading(() => this.#pages.get(`${page.after} ${sessionId}`, () => readTexts(this.#db, page)));
    return followPages(this.#following(sessionId, shared), query);
  }

  followFeed({ task, ...cursor }: FeedQuery): AsyncIterable<readonly FeedText[]> {
    const feed: Followed<FeedText> = {
      read: async (after) => {
        let head = after;
        const read = () => {
          const page = readFeedPage(this.#db, { after, task, ...FOLLOW_PAGE });
          head = page.head;
          return page.events;
        };
        const items = await this.#reading(() => (task === undefined ? this.#pages.get(`${after}`, read) : read()));
        return { items, through: items.at(-1)?.position ?? head };
      },
      grown: (after, signal) => this.#watch.grown(FEED, after, () => lastPosition(this.#db), signal),
      joined: () => this.#watch.joined(),
      closed: this.#closed.signal,
    };
    return followPages(feed, cursor);
  }

  async readFeed({ limit, ...query }: Parameters<Store["readFeed"]>[0]): Promise<FeedPage> {
    return this.#reading(() => readFeedPage(this.#db, { ...query, limit: clampLimit(limit) }));
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#runNow(() => readSummary(this.#db, sessionId));
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return listSummaries(this.#db, query, this.#reading);
  }

  async acquireLease(request: LeaseRequest): Promise<Lease> {
    return this.#leasing(request.sessionId, (current) => grantLease(current, request));
  }

  async renewLease(lease: Lease, until: number): Promise<Lease> {
    return this.#leasing(lease.sessionId, (current) => extendLease(current, lease, until));
  }

  async releaseLease(lease: Lease): Promise<void> {
    await this.#writing(() => {
      const ended = endLease(readLease(this.#db, lease.sessionId), lease);
      if (ended !== undefined) keepLease(this.#db, ended);
    });
  }

  async currentLease(sessionId: string): Promise<Lease | undefined> {
    return this.#runNow(() => leaseOf(readLease(this.#db, sessionId)));
  }

  /** Resolves when nothing of it is left, or when the rest has to be left to the next who deletes. */
  async delete(lease: Lease): Promise<void> {
    const { sessionId } = lease;
    await this.#writing(() => {
      if (headOf(this.#db, sessionId) === undefined) throw notFound("session", sessionId);
      stillCurrent(readLease(this.#db, sessionId), lease);
      hideSession(this.#db, sessionId);
    });
    this.#pages.forget();
    this.#watch.gone(sessionId);
    try {
      while (!(await this.#writing(() => forgetSome(this.#db)))) await new Promise((resolve) => setImmediate(resolve));
    } catch (error) {
      if (!isRookeryError(error)) throw error; // it is gone all the same
    }
  }

  async keptRequest(key: string): Promise<KeptRequest | undefined> {
    return this.#runNow(() => readRequest(this.#db, key));
  }

  async keepResponse(request: RequestKey, response: string): Promise<void> {
    await this.#writing(() => writeResponse(this.#db, request, response));
  }

  async journal(sessionId: string, turnId: string): Promise<readonly JournalEntry[]> {
    return this.#reading(() => readJournal(this.#db, sessionId, turnId));
  }

  async putBlob(bytes: Uint8Array): Promise<BlobRef> {
    const ref = nameBlob(bytes);
    const kept = Uint8Array.from(bytes); // the caller may change its own while this waits for the lock
    await this.#writing(() => writeBlob(this.#db, ref.hash, kept));
    return ref;
  }

  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#reading(() => readBlob(this.#db, hash));
  }

  async appendTask(append: TaskAppend): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#commits.add(prepareTaskAppend(append));
  }

  async appendTaskAtHead({ taskId, id, decide }: TaskAppendAtHead): Promise<Appended> {
    return this.#writingAtHead({ kind: "task", logId: taskId, id }, () => {
      const state = readTask(this.#db, taskId);
      if (state === undefined) throw notFound("task", taskId);
      const events = decide(state);
      return events.length === 0 ? undefined : prepareTaskAppend({ taskId, id, expectedHead: state.head, events });
    });
  }

  async readTask(query: TaskRead): Promise<{ events: readonly TaskEvent[]; head: number }> {
    return readTaskPage(this.#db, query, this.#reading);
  }

  async task(taskId: string): Promise<TaskState | undefined> {
    return this.#runNow(() => readTask(this.#db, taskId));
  }

  async tasks(query: TaskQuery = {}): Promise<readonly TaskState[]> {
    return listTasks(this.#db, query, this.#reading);
  }

  async countTasks(): Promise<Readonly<Record<TaskPhase, number>>> {
    return this.#runNow(() => countTasks(this.#db));
  }

  async claimTask(request: TaskClaim): Promise<ClaimedTask | undefined> {
    const claimed = await this.#writing(() => claim(this.#db, request));
    if (claimed !== undefined) this.#watch.committed(new Map());
    return claimed;
  }

  /** Ends every follower, writes what is queued, and closes the file. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    await this.#commits.drained();
    this.#watch.close();
    this.#db.close();
  }

  /** One piece of work: a caller that reads a whole log asks for piece after piece, and waits for nothing else. */
  readonly #reading: ReadPiece = async (work) => {
    const slice = nextLoopSlice();
    if (slice !== undefined) await slice;
    return this.#runNow(work);
  };

  /** For work that is too short to wait behind the pieces of those who read whole logs: one row, a count, a write. */
  async #runNow<T>(work: () => T): Promise<T> {
    this.#refuseIfClosed();
    return whenUnlocked(work, performance.now() + this.#lockTimeout);
  }

  async #writing<T>(work: () => T): Promise<T> {
    return this.#runNow(() => this.#db.transaction(work));
  }

  async #writingAtHead(
    log: Parameters<typeof writeAtHead>[1],
    prepare: Parameters<typeof writeAtHead>[2],
  ): Promise<Appended> {
    const appended = await this.#writing(() => writeAtHead(this.#db, log, prepare));
    if (!appended.repeated) this.#watch.committed(new Map([[log.logId, appended.head]]));
    return appended;
  }

  #leasing(sessionId: string, decide: (current: KeptLease | undefined) => KeptLease): Promise<Lease> {
    return this.#writing(() => {
      const kept = decide(readLease(this.#db, sessionId));
      keepLease(this.#db, kept);
      const { owner, generation, until } = kept;
      return { sessionId, owner, generation, until };
    });
  }

  #following<Item extends { readonly seq: number }>(
    sessionId: string,
    readItems: (query: ReadQuery & { after: number }) => Promise<readonly Item[]>,
  ): Followed<Item> {
    return {
      read: async (after) => {
        const items = await readItems({ sessionId, after, ...FOLLOW_PAGE });
        return { items, through: items.at(-1)?.seq ?? after };
      },
      grown: (after, signal) => this.#watch.grown(sessionId, after, () => headOf(this.#db, sessionId), signal),
      joined: () => this.#watch.joined(),
      closed: this.#closed.signal,
    };
  }

  #refuseIfClosed(): void {
    if (this.#closing === undefined) return;
    throw new RookeryError("store_closed", `${this.#db.path} is closed: open it again`);
  }
}
