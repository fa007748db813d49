/** A store that lives as long as its process: for tests, and for sessions nobody wants to keep. */
import { setMaxListeners } from "node:events";
import {
  applyTask,
  emptySummary,
  keyText,
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
} from "../domain/index.ts";
import { nextLoopSlice } from "../stdx/index.ts";
import type { RequestKey } from "../stdx/request-key.ts";
import { prepareAppend, prepareTaskAppend, requestOfDeletion, type Admissible, type JournalText } from "./admission.ts";
import { nameBlob } from "./blob.ts";
import { follow, FOLLOW_PAGE, followPages, type Followed } from "./follow.ts";
import { endLease, extendLease, grantLease, leaseOf, stillCurrent, type KeptLease } from "./lease.ts";
import { MemoryFeed } from "./memory/feed.ts";
import { MemoryLog } from "./memory/log.ts";
import { MemoryRequests } from "./memory/requests.ts";
import { busyTasks, candidatesOf, listed } from "./memory/tasks.ts";
import { clampBytes, clampLimit } from "./page.ts";
import { withCheckedArguments } from "./parameters.ts";
import { chosen, NO_TASKS, startOf } from "./task-facts.ts";
import { FEED, Waiters } from "./waiters.ts";

export function openMemoryStore(): Store {
  return withCheckedArguments(new MemoryStore());
}

/** All that is kept of a session; values as JSON, as its events are. */
interface KeptSession {
  readonly log: MemoryLog;
  readonly journal: Map<string, KeptEntry>;
  summary: SessionSummary;
  /** The task that it belongs to, if there was one when it was opened. */
  task: MemoryLog | undefined;
}

interface KeptTask {
  readonly log: MemoryLog;
  readonly order: number;
  readonly state: TaskState;
}

interface KeptEntry extends Pick<JournalEntry, "key" | "finished"> {
  readonly value: string | undefined;
}

class MemoryStore implements Store {
  readonly #sessions = new Map<string, KeptSession>();
  readonly #tasks = new Map<string, KeptTask>();
  readonly #feed = new MemoryFeed();
  readonly #leases = new Map<string, KeptLease>();
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #waiters = new Waiters();
  readonly #requests = new MemoryRequests();
  readonly #closed = new AbortController();

  constructor() {
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    const admissible = prepareAppend(append);
    const { sessionId } = append;
    const session = this.#sessions.get(sessionId) ?? newSession(sessionId);
    const appended = this.#append(session.log, admissible);
    if (appended.repeated) return appended;
    for (const write of admissible.journal) writeJournal(session.journal, sessionId, write);
    const before = session.summary;
    session.summary = summarize(before, admissible.events as readonly SessionEvent[]);
    if (session.summary.task !== before.task) session.task = this.#tasks.get(session.summary.task ?? "")?.log;
    this.#sessions.set(sessionId, session);
    this.#waiters.moved(sessionId, admissible.head);
    return appended;
  }

  async appendAtHead({ sessionId, id, decide }: AppendAtHead): Promise<Appended> {
    this.#refuseIfClosed();
    const { log, summary } = this.#session(sessionId);
    const repeated = log.repeated(id);
    if (repeated !== undefined) return repeated;
    const events = decide(plain(summary));
    return events.length === 0
      ? { head: log.head, repeated: false }
      : this.append({ sessionId, id, expectedHead: log.head, events });
  }

  async appendTaskAtHead({ taskId, id, decide }: TaskAppendAtHead): Promise<Appended> {
    this.#refuseIfClosed();
    const { log, state } = this.#task(taskId);
    const repeated = log.repeated(id);
    if (repeated !== undefined) return repeated;
    const events = decide(plain(state));
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
      this.#following(query.sessionId, (log, page) => log.page<SessionEvent>(page)),
      query,
    );
  }

  followText(query: FollowQuery): AsyncIterable<readonly EventText[]> {
    return followPages(
      this.#following(query.sessionId, (log, page) => Promise.resolve(log.texts(page))),
      query,
    );
  }

  followFeed({ task, ...cursor }: FeedQuery): AsyncIterable<readonly FeedText[]> {
    const feed: Followed<FeedText> = {
      read: async (after) => {
        const { events, head } = await this.readFeed({ after, task, ...FOLLOW_PAGE });
        return { items: events, through: events.at(-1)?.position ?? head };
      },
      grown: (after, signal) => this.#grown(FEED, after, () => this.#feed.head, signal),
      joined: () => () => undefined,
      closed: this.#closed.signal,
    };
    return followPages(feed, cursor);
  }

  async readFeed({ after, task, limit, maxBytes }: Parameters<Store["readFeed"]>[0]): Promise<FeedPage> {
    this.#refuseIfClosed();
    const wanted = task === undefined ? undefined : this.#task(task).log;
    const isWanted = (log: MemoryLog) =>
      wanted === undefined || log === wanted || (log.kind === "session" && this.#sessions.get(log.id)?.task === wanted);
    return {
      events: this.#feed.after(after, { limit: clampLimit(limit), maxBytes: clampBytes(maxBytes) }, isWanted),
      head: this.#feed.head,
    };
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
    return task && plain(task.state);
  }

  async tasks(query: TaskQuery = {}): Promise<readonly TaskState[]> {
    this.#refuseIfClosed();
    return listed(this.#tasks, query).map(plain);
  }

  async countTasks(): Promise<Readonly<Record<TaskPhase, number>>> {
    this.#refuseIfClosed();
    const counts: Record<TaskPhase, number> = { ...NO_TASKS };
    for (const { state } of this.#tasks.values()) if (!state.removed) counts[state.phase] += 1;
    return counts;
  }

  async claimTask(claim: TaskClaim): Promise<ClaimedTask | undefined> {
    this.#refuseIfClosed();
    const { owner, now, until } = claim;
    const id = chosen(claim, candidatesOf(this.#tasks, this.#leases, claim), busyTasks(this.#tasks));
    if (id === undefined) return undefined;
    const lease = this.#keepLease(grantLease(this.#leases.get(id), { sessionId: id, owner, now, until }));
    this.#appendTask(startOf(this.#task(id).state, claim, lease.generation));
    return { state: plain(this.#task(id).state), lease };
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    this.#refuseIfClosed();
    const session = this.#sessions.get(sessionId);
    return session && plain(session.summary);
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    this.#refuseIfClosed();
    const { agent, cwd, parent, task, status, before, limit } = query;
    return Array.from(this.#sessions.values())
      .filter((session) => task === undefined || session.task?.id === task)
      .map(({ summary }) => summary)
      .filter((summary) => agent === undefined || summary.agent === agent)
      .filter((summary) => cwd === undefined || summary.cwd === cwd)
      .filter((summary) => parent === undefined || summary.parent === parent)
      .filter((summary) => (status === undefined ? summary.status !== "copying" : summary.status === status))
      .filter((summary) => before === undefined || summary.id < before)
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, clampLimit(limit))
      .map(plain);
  }

  async acquireLease(request: LeaseRequest): Promise<Lease> {
    this.#refuseIfClosed();
    return this.#keepLease(grantLease(this.#leases.get(request.sessionId), request));
  }

  async renewLease(lease: Lease, until: number): Promise<Lease> {
    this.#refuseIfClosed();
    return this.#keepLease(extendLease(this.#leases.get(lease.sessionId), lease, until));
  }

  async releaseLease(lease: Lease): Promise<void> {
    this.#refuseIfClosed();
    const ended = endLease(this.#leases.get(lease.sessionId), lease);
    if (ended !== undefined) this.#leases.set(ended.sessionId, ended);
  }

  async currentLease(sessionId: string): Promise<Lease | undefined> {
    this.#refuseIfClosed();
    return leaseOf(this.#leases.get(sessionId));
  }

  async delete(lease: Lease): Promise<void> {
    this.#refuseIfClosed();
    const { sessionId } = lease;
    const { log } = this.#session(sessionId);
    stillCurrent(this.#leases.get(sessionId), lease);
    const request = requestOfDeletion(sessionId);
    if (request !== undefined) this.#requests.addMade(request);
    this.#sessions.delete(sessionId);
    this.#feed.forget(log);
    this.#leases.delete(sessionId);
    this.#waiters.gone(sessionId);
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
    return Array.from(this.#sessions.get(sessionId)?.journal.values() ?? [])
      .filter(({ key }) => key.turnId === turnId)
      .map(({ key, finished, value }) => ({
        key,
        finished,
        value: value === undefined ? undefined : (JSON.parse(value) as unknown),
      }));
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
  }

  #session(id: string): KeptSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new RookeryError("session_not_found", `no session ${id}`);
    return session;
  }

  #task(id: string): KeptTask {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new RookeryError("task_not_found", `no task ${id}`);
    return task;
  }

  #append(log: MemoryLog, admissible: Admissible): Appended {
    const appended = log.append(admissible, this.#leases.get(log.id)?.generation);
    if (appended.repeated) return appended;
    if (admissible.request !== undefined) this.#requests.addMade(admissible.request);
    this.#feed.add(log, admissible.events.length);
    this.#waiters.moved(FEED, this.#feed.head);
    return appended;
  }

  #appendTask(append: TaskAppend): Appended {
    const { taskId } = append;
    const kept = this.#tasks.get(taskId);
    const { log, order } = kept ?? { log: new MemoryLog("task", taskId), order: this.#tasks.size + 1 };
    const admissible = prepareTaskAppend(append);
    const appended = this.#append(log, admissible);
    if (appended.repeated) return appended;
    const state = (admissible.events as readonly TaskEvent[]).reduce(applyTask, kept?.state as TaskState);
    this.#tasks.set(taskId, { log, order, state: plain(state) });
    return appended;
  }

  #following<Item extends { readonly seq: number }>(
    sessionId: string,
    pageOf: (log: MemoryLog, query: { after: number; limit: number }) => Promise<readonly Item[]>,
  ): Followed<Item> {
    return {
      read: async (after) => {
        const slice = nextLoopSlice();
        if (slice !== undefined) await slice;
        this.#refuseIfClosed();
        const items = await pageOf(this.#session(sessionId).log, { after, ...FOLLOW_PAGE });
        return { items, through: items.at(-1)?.seq ?? after };
      },
      grown: (after, signal) =>
        this.#grown(sessionId, after, () => this.#sessions.get(sessionId)?.log.head ?? Infinity, signal),
      joined: () => () => undefined,
      closed: this.#closed.signal,
    };
  }

  async #grown(logId: string, after: number, headNow: () => number, signal: AbortSignal): Promise<void> {
    if (headNow() <= after) await this.#waiters.wait(logId, after, signal);
  }

  #keepLease(kept: KeptLease): Lease {
    this.#leases.set(kept.sessionId, kept);
    const { sessionId, owner, generation, until } = kept;
    return { sessionId, owner, generation, until };
  }

  #refuseIfClosed(): void {
    if (this.#closed.signal.aborted) throw new RookeryError("store_closed", "the store is closed: open it again");
  }
}

function newSession(id: string): KeptSession {
  return { log: new MemoryLog("session", id), journal: new Map(), summary: emptySummary(id), task: undefined };
}

function writeJournal(journal: Map<string, KeptEntry>, sessionId: string, write: JournalText): void {
  switch (write.op) {
    case "start": {
      const name = keyText(write.key);
      if (!journal.has(name))
        journal.set(name, { key: { ...write.key, sessionId }, finished: false, value: undefined });
      return;
    }
    case "finish":
      journal.set(keyText(write.key), {
        key: { ...write.key, sessionId },
        finished: true,
        value: write.value,
      });
      return;
    case "forget":
      for (const [name, { key }] of journal) if (key.turnId === write.turnId) journal.delete(name);
  }
}

/** As it would come back from a file: without undefined. */
function plain<T extends SessionSummary | TaskState>(kept: T): T {
  return JSON.parse(JSON.stringify(kept)) as T;
}
