/** The store in one SQLite file, shared by every process of the machine that opens it. */
import { setMaxListeners } from "node:events";
import {
  RookeryError,
  type Append,
  type Appended,
  type BlobRef,
  type EventPage,
  type FollowQuery,
  type JournalEntry,
  type Lease,
  type LeaseRequest,
  type ListQuery,
  type ReadQuery,
  type SessionEvent,
  type SessionStore,
  type SessionSummary,
} from "../../domain/index.ts";
import { prepareAppend } from "../admission.ts";
import { nameBlob } from "../blob.ts";
import { follow } from "../follow.ts";
import { endLease, extendLease, grantLease, leaseOf, stillCurrent, type KeptLease } from "../lease.ts";
import { Waiters } from "../waiters.ts";
import { Commits } from "./commits.ts";
import type { Database } from "./database.ts";
import { Doorbell } from "./doorbell.ts";
import { whenUnlocked } from "./lock.ts";
import { headOf, headsOf, readPage, sessionNotFound } from "./pages.ts";
import {
  forgetSession,
  keepLease,
  listSummaries,
  readBlob,
  readJournal,
  readLease,
  readSummary,
  writeBlob,
} from "./tables.ts";

export class SqliteStore implements SessionStore {
  readonly #db: Database;
  readonly #lockTimeout: number;
  readonly #commits: Commits;
  readonly #bell: Doorbell;
  readonly #waiters = new Waiters();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;
  #seenVersion: unknown;
  #followers = 0;

  constructor(db: Database, { lockTimeout }: { lockTimeout: number }) {
    this.#db = db;
    this.#lockTimeout = lockTimeout;
    this.#bell = new Doorbell(`${db.path}-bell`);
    this.#commits = new Commits(db, { lockTimeout, onCommit: (heads) => this.#committed(heads) });
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    return this.#commits.add(prepareAppend(append));
  }

  async read(query: ReadQuery): Promise<EventPage> {
    return this.#reading(() => readPage(this.#db, query));
  }

  follow(query: FollowQuery): AsyncIterable<SessionEvent> {
    const log = {
      read: (page: ReadQuery) => this.read(page),
      grown: (sessionId: string, after: number, signal: AbortSignal) => this.#grown(sessionId, after, signal),
      joined: () => this.#joined(),
      closed: this.#closed.signal,
    };
    return follow(log, query);
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    return this.#reading(() => readSummary(this.#db, sessionId));
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return this.#reading(() => listSummaries(this.#db, query));
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
    return this.#reading(() => leaseOf(readLease(this.#db, sessionId)));
  }

  /** One transaction, which holds the lock, and the process, for some 3 s per million events. */
  async delete(lease: Lease): Promise<void> {
    const { sessionId } = lease;
    await this.#writing(() => {
      if (headOf(this.#db, sessionId) === undefined) throw sessionNotFound(sessionId);
      stillCurrent(readLease(this.#db, sessionId), lease);
      forgetSession(this.#db, sessionId);
    });
    this.#bell.ring();
    this.#waiters.gone(sessionId);
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

  /** Ends every follower, writes what is queued, and closes the file. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    await this.#commits.drained();
    this.#bell.close();
    this.#db.close();
  }

  async #reading<T>(work: () => T): Promise<T> {
    this.#refuseIfClosed();
    return whenUnlocked(work, performance.now() + this.#lockTimeout);
  }

  async #writing<T>(work: () => T): Promise<T> {
    this.#refuseIfClosed();
    return whenUnlocked(() => this.#db.transaction(work), performance.now() + this.#lockTimeout);
  }

  #leasing(sessionId: string, decide: (current: KeptLease | undefined) => KeptLease): Promise<Lease> {
    return this.#writing(() => {
      const kept = decide(readLease(this.#db, sessionId));
      keepLease(this.#db, kept);
      const { owner, generation, until } = kept;
      return { sessionId, owner, generation, until };
    });
  }

  #committed(heads: ReadonlyMap<string, number>): void {
    this.#bell.ring();
    for (const [sessionId, head] of heads) this.#waiters.moved(sessionId, head);
  }

  /** Listens first and looks then: what is committed in between is either seen or rung for. */
  async #grown(sessionId: string, after: number, signal: AbortSignal): Promise<void> {
    const grown = this.#waiters.wait(sessionId, after, signal);
    this.#bell.listen(() => this.#look());
    this.#orWakeAll(() => this.#waiters.moved(sessionId, headOf(this.#db, sessionId) ?? Infinity));
    await grown;
    if (this.#waiters.empty) this.#bell.rest();
  }

  #joined(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      if (this.#followers === 0) this.#bell.ignore();
    };
  }

  #look(): void {
    if (this.#waiters.empty) return;
    this.#orWakeAll(() => {
      const [version] = this.#db.get("pragma data_version") ?? [];
      if (version === this.#seenVersion) return;
      const heads = headsOf(this.#db, this.#waiters.sessions);
      for (const sessionId of this.#waiters.sessions) this.#waiters.moved(sessionId, heads.get(sessionId) ?? Infinity);
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

  #refuseIfClosed(): void {
    if (this.#closing === undefined) return;
    throw new RookeryError("store_closed", `${this.#db.path} is closed: open it again`);
  }
}
