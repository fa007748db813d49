/** The only writer of a live session: orders recorded events, merges deltas, and appends them in groups. */
import {
  RookeryError,
  type EventBody,
  type JournalWrite,
  type Request,
  type SessionEvent,
  type SessionState,
} from "../domain/index.ts";
import type { Clock } from "../stdx/index.ts";
import { EntryWriter, notRecorded } from "./entry-writer.ts";
import { LogHead, type LogHeadOptions } from "./log-head.ts";
import { mergeInto } from "./merge.ts";
import { MAX_ENTRY_LENGTH, PendingEntries, rejectWaiters, type PendingEntry } from "./pending.ts";
import { createCutNotice, toWritableEvent, toWritableValue } from "./writable.ts";

/** `ready` waits while more than this is pending. */
const BUFFER_DRAFTS = 1_000;
const BUFFER_LENGTH = MAX_ENTRY_LENGTH;
/** If an agent records more than this without waiting for `ready`, further events are dropped and its turn fails. */
const MAX_PENDING_LENGTH = 256 * 1024 * 1024;
/** The longest pause before a write, because events should be visible soon. */
const MAX_PAUSE_MS = 5;
/** Shorter pauses are skipped, because timers are not more precise. */
const MIN_PAUSE_MS = 1;

export interface RecorderOptions extends LogHeadOptions {
  readonly clock: Clock;
  /**
   * How long transient failures of the store are retried before waiters are rejected, in milliseconds. Default: 30 s.
   */
  readonly patienceMs?: number | undefined;
}

export interface WriteOptions {
  readonly turnId?: string | undefined;
  readonly journal?: readonly JournalWrite[] | undefined;
  /** The agent that the events belong to. Default: the agent that drives the session. */
  readonly by?: string | undefined;
  /**
   * Whether the caller waits while transient failures are retried. Default: false, which rejects with the first
   * failure.
   */
  readonly patient?: boolean | undefined;
}

/**
 * Retries transient failures of the store (a full disk, a lock) as long as the session lives: waiters are rejected
 * after `patienceMs`, and recorded events are written when the store works again. Replaces events that the log cannot
 * hold. Only the loss of the lease, the session or the store breaks the recorder.
 */
export class Recorder {
  readonly #log: LogHead;
  readonly #pending = new PendingEntries();
  #flushing: Promise<void> | undefined;
  #failure: unknown;
  /** When the pause after the last write ends, by `performance.now()`. */
  #pauseUntil = 0;
  /** True if the next write waits for more events, at most `MAX_PAUSE_MS`. */
  #waitsForMore = false;
  /** The time of the last event, in milliseconds and as text. */
  #now = Number.NaN;
  #at = "";
  #endPause: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #writer: EntryWriter;
  /** Called once, when nothing can be written anymore. */
  onBroken: (failure: unknown) => void = () => undefined;
  /** Called once per outage, when the store has failed for `patienceMs`. Writing continues when it works again. */
  onOutage: (failure: unknown) => void = () => undefined;
  /** Called when an event of this turn could not be recorded in full. */
  onRefused: (turnId: string | undefined, failure: RookeryError) => void = () => undefined;
  #requests: number;
  /** Open questions from before the session was opened, which were not asked again yet. */
  #earlierQuestions: Request[];
  /** The agent of the next events. Ahead of the state while a switch is being committed. */
  #agent: string;

  constructor({ clock, patienceMs, ...log }: RecorderOptions) {
    const { state } = log;
    this.#log = new LogHead(log);
    this.#clock = clock;
    this.#writer = new EntryWriter({
      log: this.#log,
      clock,
      pending: this.#pending,
      patienceMs,
      onOutage: (failure) => this.onOutage(failure),
      onRefused: (turnId, failure) => this.onRefused(turnId, failure),
    });
    this.#requests = state.requestCount;
    this.#earlierQuestions = state.requests.filter(({ toolId }) => toolId === undefined);
    this.#agent = state.agent;
  }

  get state(): SessionState {
    return this.#log.state;
  }

  /** True if nothing can be written anymore: the lease, the session or the store is gone. */
  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** Called with events that another process appended. */
  set onForeign(listener: (events: readonly SessionEvent[]) => void) {
    this.#log.onForeign = listener;
  }

  /**
   * Records events without waiting. Throws the failure if the recorder is broken. `by` is the agent of the events.
   * Default: the agent that drives the session.
   */
  record(bodies: readonly EventBody[], turnId?: string, journal: readonly JournalWrite[] = [], by?: string): void {
    this.#add(bodies, { turnId, journal, by, alone: false });
  }

  /** Like `record`, for events that more events follow soon: they are written together, or a few milliseconds later. */
  recordLazily(bodies: readonly EventBody[], turnId?: string, journal: readonly JournalWrite[] = []): void {
    this.#waitsForMore = this.#flushing === undefined;
    this.record(bodies, turnId, journal);
  }

  /** Resolves when all events are durable. If it rejects, they are not written later. */
  async write(bodies: readonly EventBody[], { patient = false, ...options }: WriteOptions = {}): Promise<void> {
    const entry = this.#add(bodies, { ...options, alone: true });
    if (entry === undefined) return;
    const durable = this.#pending.wait(patient, entry);
    this.#endPause();
    try {
      await durable;
    } catch (error) {
      this.#pending.withdraw(entry);
      this.#agent = this.state.agent;
      throw error;
    }
  }

  /** Resolves when the buffer has room for more events. */
  async ready(): Promise<void> {
    if (this.#pending.draftCount >= BUFFER_DRAFTS || this.#pending.length >= BUFFER_LENGTH) await this.commit();
  }

  /**
   * Resolves when all events recorded so far are durable. If it rejects with a transient failure, the retries
   * continue.
   */
  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure as Error;
    if (this.#flushing === undefined) return;
    const durable = this.#pending.wait(true);
    this.#endPause();
    await durable;
  }

  /** Makes every later record fail, and rejects all waiters. Call it when the session has lost its lease. */
  break(failure: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#writer.stop(failure);
    this.onBroken(failure);
  }

  /** Call it when the session closes: transient failures are retried for two more seconds. */
  stopRetrying(): void {
    this.#writer.close();
  }

  /** Returns and removes the same question of the same turn from before a crash, so that it is not asked twice. */
  takeEarlierQuestion(turnId: string | undefined, message: string): Request | undefined {
    const earlier = this.#earlierQuestions.find((request) => request.turnId === turnId && request.title === message);
    this.#earlierQuestions = this.#earlierQuestions.filter((request) => request !== earlier);
    return this.state.requests.find(({ requestId }) => requestId === earlier?.requestId);
  }

  /** Returns a new request ID. Short, because people type it. */
  nextRequestId(): string {
    this.#requests = Math.max(this.#requests, this.state.requestCount) + 1;
    return `r${this.#requests}`;
  }

  /** Applies events that were read from the log. Skips events that are already applied. */
  advance(events: readonly SessionEvent[]): void {
    this.#log.advance(events);
  }

  /** Reads and applies the events that other processes appended. */
  catchUp(): Promise<void> {
    return this.#log.catchUp();
  }

  /** Like `catchUp`, but does nothing if our own appends explain this head. */
  catchUpTo(head: number): Promise<void> {
    return this.#log.catchUpTo(head);
  }

  /** Returns undefined if there is nothing to write. */
  #add(
    bodies: readonly EventBody[],
    { turnId, journal = [], by, alone }: Omit<WriteOptions, "patient"> & { readonly alone: boolean },
  ): PendingEntry | undefined {
    if (this.#failure !== undefined) throw this.#failure as Error;
    if (bodies.length === 0 && journal.length === 0) return undefined;
    const events = bodies.map(toWritableEvent);
    const writes = journal.map(toWritableWrite);
    const length = [...events, ...writes].reduce((sum, part) => sum + part.length, 0);
    if (this.#pending.length + length > MAX_PENDING_LENGTH) {
      const overflow = tooMuchPending(this.#pending.length);
      if (alone) throw overflow;
      this.onRefused(turnId, overflow);
      return undefined;
    }
    const at = this.#time();
    let entry = alone ? this.#pending.begin(true) : this.#pending.entryFor(length);
    for (const { value, length } of events) {
      const stamp = { at, agent: by ?? this.#agent, turnId };
      if (!alone && entry.drafts.length > 0 && entry.length + length > MAX_ENTRY_LENGTH)
        entry = this.#pending.begin(false);
      const isMerged = !alone && mergeInto(entry.drafts.at(-1), value, stamp);
      this.#pending.add(entry, isMerged ? undefined : { ...value, ...stamp }, length);
      if (value.type === "agent.switched") this.#agent = value.to;
    }
    for (const { value, length } of writes) {
      entry.journal.push(value);
      this.#pending.add(entry, undefined, length);
    }
    const problems = [...events, ...writes].flatMap(({ problem }) => problem ?? []);
    if (problems[0] !== undefined) {
      const failure = notRecorded(events.find(({ problem }) => problem !== undefined)?.value.type, problems[0]);
      const notice = { ...createCutNotice(failure.message), at, agent: by ?? this.#agent, turnId };
      this.#pending.add(entry, notice, notice.message.length);
      this.onRefused(turnId, failure);
    }
    this.#flushing ??= this.#flush();
    return entry;
  }

  /** Cached, because many events happen in the same millisecond. */
  #time(): string {
    const now = this.#clock.now();
    if (now !== this.#now) [this.#now, this.#at] = [now, new Date(now).toISOString()];
    return this.#at;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // groups the events of this tick
    await this.#pauseBeforeWrite();
    for (let entry = this.#pending.take(); entry !== undefined; entry = this.#pending.take()) {
      try {
        if (this.#failure !== undefined) throw this.#failure as Error;
        const started = performance.now();
        await this.#writer.write(entry);
        const ended = performance.now();
        this.#pauseUntil = ended + (ended - started);
        for (const { durable } of entry.waiters) durable.resolve();
      } catch (failure) {
        this.break(failure);
        rejectWaiters([entry, ...this.#pending.clear()], failure);
      }
    }
    this.#flushing = undefined;
  }

  /**
   * Waits before the next write as long as the previous write took, at most 5 ms, so that a slow disk gets fewer and
   * larger writes. Does not wait if a caller waits for the entry.
   */
  async #pauseBeforeWrite(): Promise<void> {
    const pauseMs = this.#waitsForMore ? MAX_PAUSE_MS : Math.min(this.#pauseUntil - performance.now(), MAX_PAUSE_MS);
    this.#waitsForMore = false;
    if (pauseMs < MIN_PAUSE_MS || [...this.#pending].some(({ waiters }) => waiters.length > 0)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = () => undefined;
  }
}

function toWritableWrite(write: JournalWrite): { value: JournalWrite; length: number; problem?: string } {
  if (write.op !== "finish") return { value: write, length: 100 };
  const { value, ...measured } = toWritableValue(write.value);
  return { ...measured, value: { ...write, value } };
}

function tooMuchPending(length: number): RookeryError {
  const size = `${Math.ceil(length / 1e6)} MB of events are waiting to be written`;
  return new RookeryError("store_unavailable", `${size}, which is the limit: the agent writes faster than the disk`);
}
