/** A store that lives as long as its process: for tests, and for sessions nobody wants to keep. */
import { setMaxListeners } from "node:events";
import {
  emptySummary,
  RookeryError,
  summarize,
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
  keyText,
} from "../domain/index.ts";
import { admit, prepareAppend, type JournalText } from "./admission.ts";
import { nameBlob } from "./blob.ts";
import { follow } from "./follow.ts";
import { endLease, extendLease, grantLease, leaseOf, stillCurrent, type KeptLease } from "./lease.ts";
import { clampLimit, fitRange, rangeOf } from "./page.ts";
import { Waiters } from "./waiters.ts";

export function openMemoryStore(): SessionStore {
  return new MemoryStore();
}

/** All that is kept of a session; events and values as JSON, so that nobody holds a part of the store in hand. */
interface KeptSession {
  readonly bodies: string[];
  readonly appends: Map<string, number>;
  readonly journal: Map<string, KeptEntry>;
  summary: SessionSummary;
}

interface KeptEntry extends Pick<JournalEntry, "key" | "finished"> {
  readonly value: string | undefined;
}

class MemoryStore implements SessionStore {
  readonly #sessions = new Map<string, KeptSession>();
  readonly #leases = new Map<string, KeptLease>();
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #waiters = new Waiters();
  readonly #closed = new AbortController();

  constructor() {
    setMaxListeners(0, this.#closed.signal); // one per follower
  }

  async append(append: Append): Promise<Appended> {
    this.#refuseIfClosed();
    const admissible = prepareAppend(append);
    const { sessionId } = append;
    const kept = this.#sessions.get(sessionId);
    const repeatedHead = kept?.appends.get(append.id);
    if (repeatedHead !== undefined) return { head: repeatedHead, repeated: true };
    const head = kept?.bodies.length ?? 0;
    admit(admissible, { head, generation: this.#leases.get(sessionId)?.generation });

    const session = kept ?? newSession(sessionId);
    for (const write of admissible.journal) writeJournal(session.journal, sessionId, write);
    for (const body of admissible.bodies) session.bodies.push(body);
    session.summary = summarize(session.summary, admissible.events);
    session.appends.set(append.id, admissible.head);
    this.#sessions.set(sessionId, session);
    this.#waiters.moved(sessionId, admissible.head);
    return { head: admissible.head, repeated: false };
  }

  async read(query: ReadQuery): Promise<EventPage> {
    this.#refuseIfClosed();
    const { sessionId, order } = query;
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new RookeryError("session_not_found", `no session ${sessionId}`);
    const head = session.bodies.length;
    const { first, last } = fitRange(rangeOf(query, head), order, (range) => bytesOf(session, range.first, range.last));
    const events = session.bodies
      .slice(Math.max(first - 1, 0), Math.max(last, 0))
      .map((body) => Object.assign(JSON.parse(body) as SessionEvent, { sessionId }));
    return { events: order === "newest_first" ? events.reverse() : events, head };
  }

  follow(query: FollowQuery): AsyncIterable<SessionEvent> {
    const grown = async (sessionId: string, after: number, signal: AbortSignal): Promise<void> => {
      if ((this.#sessions.get(sessionId)?.bodies.length ?? Infinity) > after) return;
      await this.#waiters.wait(sessionId, after, signal);
    };
    const joined = () => () => undefined;
    return follow({ read: (page) => this.read(page), grown, joined, closed: this.#closed.signal }, query);
  }

  async summary(sessionId: string): Promise<SessionSummary | undefined> {
    this.#refuseIfClosed();
    const session = this.#sessions.get(sessionId);
    return session && plain(session.summary);
  }

  async list(query: ListQuery = {}): Promise<readonly SessionSummary[]> {
    this.#refuseIfClosed();
    const { agent, cwd, parent, status, before, limit } = query;
    return Array.from(this.#sessions.values(), ({ summary }) => summary)
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
    if (!this.#sessions.has(sessionId)) throw new RookeryError("session_not_found", `no session ${sessionId}`);
    stillCurrent(this.#leases.get(sessionId), lease);
    this.#sessions.delete(sessionId);
    this.#leases.delete(sessionId);
    this.#waiters.gone(sessionId);
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
  return { bodies: [], appends: new Map(), journal: new Map(), summary: emptySummary(id) };
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

function bytesOf({ bodies }: KeptSession, first: number, last: number): number {
  let bytes = 0;
  for (let seq = first; seq <= last; seq += 1) bytes += bodies[seq - 1]?.length ?? 0;
  return bytes;
}

/** As it would come back from a file: without undefined. */
function plain(summary: SessionSummary): SessionSummary {
  return JSON.parse(JSON.stringify(summary)) as SessionSummary;
}
