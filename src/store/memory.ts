/** An in-memory store, for tests and for sessions that need no persistence. */
import { setMaxListeners } from "node:events";
import {
  applyTask,
  emptySummary,
  RookeryError,
  summarize,
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
} from "../domain/index.ts";
import { nextLoopSlice } from "../stdx/index.ts";
import type { RequestKey } from "../stdx/request-key.ts";
import { prepareAppend, prepareTaskAppend, toDeletionRequest, type PreparedAppend } from "./admission.ts";
import { nameBlob } from "./blob.ts";
import {
  follow,
  FOLLOW_PAGE,
  followPages,
  watchChanges,
  watchHeads,
  type FollowCursor,
  type FollowSource,
} from "./follow.ts";
import { requireCurrentLease } from "./lease.ts";
import { MemoryFeed } from "./memory/feed.ts";
import { MemoryJournal } from "./memory/journal.ts";
import { MemoryLeases } from "./memory/leases.ts";
import { MemoryLog } from "./memory/log.ts";
import { MemoryRequests } from "./memory/requests.ts";
import { filterSessions } from "./memory/sessions.ts";
import { busyTasks, findCandidates, filterTasks, listHeldTasks } from "./memory/tasks.ts";
import { MemoryWorkers } from "./memory/workers.ts";
import { FEED_KEY, LogWatches, TASKS_KEY, toWatchKey } from "./log-watches.ts";
import { clampBytes, clampLimit } from "./page.ts";
import { withCheckedArguments } from "./parameters.ts";
import { chooseCandidate, ZERO_SESSION_COUNTS, ZERO_TASK_COUNTS, toStartAppend } from "./task-facts.ts";

export function openMemoryStore(): Store {
  return withCheckedArguments(new MemoryStore());
}

/** A session. Its events are stored as JSON text. */
interface MemorySession {
  readonly log: MemoryLog;
  readonly journal: MemoryJournal;
  summary: SessionSummary;
  /** The task of the session, if the task existed when the session was opened. */
  task: MemoryLog | undefined;
}

interface MemoryTask {
  readonly log: MemoryLog;
  readonly order: number;
  readonly state: TaskState;
}

class MemoryStore implements Store {
  readonly #sessions = new Map<string, MemorySession>();
  readonly #tasks = new Map<string, MemoryTask>();
  readonly #feed = new MemoryFeed();
  readonly #leases = new MemoryLeases();
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #watches = new LogWatches();
  readonly #requests = new MemoryRequests();
  readonly #workers = new MemoryWorkers();
  readonly #closed = new AbortController();

  constructor() {
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async check(): Promise<void> {
    this.#refuseIfClosed();
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    const prepared = prepareAppend(append);
    const { sessionId } = append;
    const session = this.#sessions.get(sessionId) ?? newSession(sessionId);
    const appended = this.#append(session.log, prepared);
    if (appended.repeated) return appended;
    for (const write of prepared.journal) session.journal.write(write);
    const before = session.summary;
    session.summary = summarize(before, prepared.events as readonly SessionEvent[]);
    if (session.summary.task !== before.task) session.task = this.#tasks.get(session.summary.task ?? "")?.log;
    this.#sessions.set(sessionId, session);
    this.#watches.notifyGrown([{ kind: "session", id: sessionId, head: prepared.head }]);
    return appended;
  }

  async appendAtHead({ sessionId, id, decide }: AppendAtHead): Promise<Appended> {
    this.#refuseIfClosed();
    const { log, summary } = this.#session(sessionId);
    const repeated = log.findRepeated(id);
    if (repeated !== undefined) return repeated;
    const events = decide(toPlainJson(summary));
    return events.length === 0
      ? { head: log.head, repeated: false }
      : this.append({ sessionId, id, expectedHead: log.head, events });
  }

  async appendTaskAtHead({ taskId, id, decide }: TaskAppendAtHead): Promise<Appended> {
    this.#refuseIfClosed();
    const { log, state } = this.#task(taskId);
    const repeated = log.findRepeated(id);
    if (repeated !== undefined) return repeated;
    const events = decide(toPlainJson(state));
    return events.length === 0
      ? { head: log.head, repeated: false }
      : this.#appendTask({ taskId, id, expectedHead: log.head, events });
  }

  async appendTask(append: TaskAppend): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#appendTask(append);
  }

  async read(query: ReadQuery): Promise<EventPage> {
    const slice = nextLoopSlice();
    if (slice !== undefined) await slice;
    this.#refuseIfClosed();
    const { log } = this.#session(query.sessionId);
    const { head } = log;
    const events = await log.page<SessionEvent>(query);
    return { events: query.order === "newest_first" ? events.reverse() : events, head };
  }

  follow(query: FollowQuery): AsyncIterable<SessionEvent> {
    return follow(
      this.#toFollowSource(query.sessionId, (log, page) => log.page<SessionEvent>(page)),
      query,
    );
  }

  followText(query: FollowQuery): AsyncIterable<readonly EventText[]> {
    return followPages(
      this.#toFollowSource(query.sessionId, (log, page) => Promise.resolve(log.texts(page))),
      query,
    );
  }

  followFeed({ task, ...cursor }: FeedQuery): AsyncIterable<readonly FeedText[]> {
    const feed: FollowSource<FeedText> = {
      read: async (after) => {
        const { events, head } = await this.readFeed({ after, task, ...FOLLOW_PAGE });
        return { items: events, through: events.at(-1)?.position ?? head };
      },
      openWatch: () => this.#watches.open(FEED_KEY),
      closed: this.#closed.signal,
    };
    return followPages(feed, cursor);
  }

  async readFeed({ after, task, limit, maxBytes }: Parameters<Store["readFeed"]>[0]): Promise<FeedPage> {
    this.#refuseIfClosed();
    const taskLog = task === undefined ? undefined : this.#task(task).log;
    const matches = (log: MemoryLog) =>
      taskLog === undefined ||
      log === taskLog ||
      (log.kind === "session" && this.#sessions.get(log.id)?.task === taskLog);
    return {
      events: this.#feed.readAfter(after, { limit: clampLimit(limit), maxBytes: clampBytes(maxBytes) }, matches),
      head: this.#feed.head,
    };
  }

  watchHead({ sessionId, ...cursor }: FollowQuery): AsyncIterable<number> {
    return this.#watchLog(toWatchKey("session", sessionId), () => this.#sessions.get(sessionId)?.log, cursor);
  }

  watchTaskHead({ taskId, ...cursor }: TaskFollowQuery): AsyncIterable<number> {
    return this.#watchLog(toWatchKey("task", taskId), () => this.#tasks.get(taskId)?.log, cursor);
  }

  watchTasks({ signal }: { readonly signal?: AbortSignal | undefined } = {}): AsyncIterable<undefined> {
    return watchChanges({ openWatch: () => this.#watches.open(TASKS_KEY), closed: this.#closed.signal }, signal);
  }

  async readTask(query: TaskRead): Promise<{ events: readonly TaskEvent[]; head: number }> {
    this.#refuseIfClosed();
    const { log } = this.#task(query.taskId);
    const { head } = log;
    return { events: await log.page<TaskEvent>(query), head };
  }

  async task(taskId: string): Promise<TaskState | undefined> {
    this.#refuseIfClosed();
    const task = this.#tasks.get(taskId);
    return task && toPlainJson(task.state);
  }

  async tasks(query: TaskQuery = {}): Promise<readonly TaskState[]> {
    this.#refuseIfClosed();
    return filterTasks(this.#tasks, query).map(toPlainJson);
  }

  async countTasks(): Promise<Readonly<Record<TaskPhase, number>>> {
    this.#refuseIfClosed();
    const counts: Record<TaskPhase, number> = { ...ZERO_TASK_COUNTS };
    for (const { state } of this.#tasks.values()) if (!state.removed) counts[state.phase] += 1;
    return counts;
  }

  async countSessions(): Promise<Readonly<Record<SessionStatus, number>>> {
    this.#refuseIfClosed();
    const counts: Record<SessionStatus, number> = { ...ZERO_SESSION_COUNTS };
    for (const { summary } of this.#sessions.values()) counts[summary.status] += 1;
    return counts;
  }

  async heldTasks(): Promise<readonly HeldTask[]> {
    this.#refuseIfClosed();
    return listHeldTasks(this.#tasks).map(({ id, phase }) => ({ id, phase, lease: this.#leases.current(id) }));
  }

  async claimTask(claim: TaskClaim): Promise<ClaimedTask | undefined> {
    this.#refuseIfClosed();
    const { owner, now, until } = claim;
    const skip = new Set(claim.skip);
    let id: string | undefined;
    for (;;) {
      const candidates = findCandidates(this.#tasks, this.#leases, claim, skip);
      id = chooseCandidate(claim, candidates, busyTasks(this.#tasks));
      if (id === undefined) return undefined;
      if (claim.accepts?.(toPlainJson(this.#task(id).state)) ?? true) break;
      skip.add(id);
    }
    const lease = this.#leases.acquire({ sessionId: id, owner, now, until });
    this.#appendTask(toStartAppend(this.#task(id).state, claim, lease.generation));
    return { state: toPlainJson(this.#task(id).state), lease };
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    this.#refuseIfClosed();
    const session = this.#sessions.get(sessionId);
    return session && toPlainJson(session.summary);
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    this.#refuseIfClosed();
    return filterSessions(this.#sessions.values(), query).map(toPlainJson);
  }

  async acquireLease(request: LeaseRequest): Promise<Lease> {
    this.#refuseIfClosed();
    return this.#leases.acquire(request);
  }

  async renewLeases(leases: readonly Lease[], until: number): Promise<readonly (Lease | undefined)[]> {
    this.#refuseIfClosed();
    return leases.map((lease) => this.#leases.renew(lease, until));
  }

  async releaseLease(lease: Lease): Promise<void> {
    this.#refuseIfClosed();
    this.#leases.release(lease);
  }

  async currentLease(sessionId: string): Promise<Lease | undefined> {
    this.#refuseIfClosed();
    return this.#leases.current(sessionId);
  }

  async delete(lease: Lease): Promise<void> {
    this.#refuseIfClosed();
    const { sessionId } = lease;
    const { log } = this.#session(sessionId);
    requireCurrentLease(this.#leases.get(sessionId), lease);
    const request = toDeletionRequest(sessionId);
    if (request !== undefined) this.#requests.addCompleted(request);
    this.#sessions.delete(sessionId);
    this.#feed.remove(log);
    this.#leases.delete(sessionId);
    this.#watches.notifyDeleted(sessionId);
  }

  async keptRequest(key: string): Promise<KeptRequest | undefined> {
    this.#refuseIfClosed();
    return this.#requests.get(key);
  }

  async keepResponse(request: RequestKey, response: string): Promise<void> {
    this.#refuseIfClosed();
    this.#requests.addResponse(request, response);
  }

  async journal(sessionId: string, turnId: string): Promise<readonly JournalEntry[]> {
    this.#refuseIfClosed();
    return this.#sessions.get(sessionId)?.journal.entriesOf(turnId) ?? [];
  }

  async putBlob(bytes: Uint8Array): Promise<BlobRef> {
    this.#refuseIfClosed();
    const ref = nameBlob(bytes);
    if (!this.#blobs.has(ref.hash)) this.#blobs.set(ref.hash, Uint8Array.from(bytes));
    return ref;
  }

  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    this.#refuseIfClosed();
    const bytes = this.#blobs.get(hash);
    return bytes && Uint8Array.from(bytes);
  }

  async saveWorker(worker: Omit<StoredWorker, "request">): Promise<WorkerRequest | undefined> {
    this.#refuseIfClosed();
    return this.#workers.save(worker);
  }

  async workers(): Promise<readonly StoredWorker[]> {
    this.#refuseIfClosed();
    return this.#workers.list();
  }

  async askWorker(id: string, request: WorkerRequest): Promise<boolean> {
    this.#refuseIfClosed();
    return this.#workers.ask(id, request);
  }

  async removeWorker(id: string): Promise<void> {
    this.#refuseIfClosed();
    this.#workers.remove(id);
  }

  async forgetWorkers(before: number): Promise<void> {
    this.#refuseIfClosed();
    this.#workers.forget(before);
  }

  async agreeOnSetting(setting: SharedSetting): Promise<string> {
    this.#refuseIfClosed();
    return this.#workers.agreeOnSetting(setting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
  }

  #session(id: string): MemorySession {
    const session = this.#sessions.get(id);
    if (session === undefined)
      throw new RookeryError("session_not_found", `no session ${id}: list sessions to find its id`);
    return session;
  }

  #task(id: string): MemoryTask {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new RookeryError("task_not_found", `no task ${id}: list tasks to find its id`);
    return task;
  }

  #append(log: MemoryLog, prepared: PreparedAppend): Appended {
    const appended = log.append(prepared, this.#leases.get(log.id)?.generation);
    if (appended.repeated) return appended;
    if (prepared.request !== undefined) this.#requests.addCompleted(prepared.request);
    this.#feed.add(log, prepared.events.length);
    return appended;
  }

  #appendTask(append: TaskAppend): Appended {
    const { taskId } = append;
    const kept = this.#tasks.get(taskId);
    const { log, order } = kept ?? { log: new MemoryLog("task", taskId), order: this.#tasks.size + 1 };
    const prepared = prepareTaskAppend(append);
    const appended = this.#append(log, prepared);
    if (appended.repeated) return appended;
    const state = (prepared.events as readonly TaskEvent[]).reduce(applyTask, kept?.state as TaskState);
    this.#tasks.set(taskId, { log, order, state: toPlainJson(state) });
    this.#watches.notifyGrown([{ kind: "task", id: taskId, head: prepared.head }]);
    return appended;
  }

  #watchLog(key: string, find: () => MemoryLog | undefined, cursor: FollowCursor): AsyncIterable<number> {
    const log = {
      openWatch: () => this.#watches.open(key),
      readHead: () => Promise.resolve(find()?.head),
      closed: this.#closed.signal,
    };
    return watchHeads(log, cursor);
  }

  #toFollowSource<Item extends { readonly seq: number }>(
    sessionId: string,
    readPage: (log: MemoryLog, query: { after: number; limit: number }) => Promise<readonly Item[]>,
  ): FollowSource<Item> {
    return {
      read: async (after) => {
        const slice = nextLoopSlice();
        if (slice !== undefined) await slice;
        this.#refuseIfClosed();
        const items = await readPage(this.#session(sessionId).log, { after, ...FOLLOW_PAGE });
        return { items, through: items.at(-1)?.seq ?? after };
      },
      openWatch: () => this.#watches.open(toWatchKey("session", sessionId)),
      closed: this.#closed.signal,
    };
  }

  #refuseIfClosed(): void {
    if (this.#closed.signal.aborted) throw new RookeryError("store_closed", "the store is closed: open it again");
  }
}

function newSession(id: string): MemorySession {
  return {
    log: new MemoryLog("session", id),
    journal: new MemoryJournal(id),
    summary: emptySummary(id),
    task: undefined,
  };
}

/** Copies a value as a file would return it: without undefined fields. */
function toPlainJson<T extends SessionSummary | TaskState>(kept: T): T {
  return JSON.parse(JSON.stringify(kept)) as T;
}
