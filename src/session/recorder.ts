/** The one writer of a live session: orders what is recorded, merges deltas, and appends it in groups. */
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

/** Past this much that waits to be committed, `ready` waits. */
const BUFFER_DRAFTS = 1_000;
const BUFFER_LENGTH = MAX_ENTRY_LENGTH;
/** Past this, what an agent says without waiting for `ready` is left out, and its turn fails. */
const MAX_PENDING_LENGTH = 256 * 1024 * 1024;
/** What is said is to be seen soon, and no timer is shorter. */
const MAX_REST_MS = 5;
const MIN_REST_MS = 1;

export interface RecorderOptions extends LogHeadOptions {
  readonly clock: Clock;
  /** How long failures of the store that may pass are waited out, in milliseconds. Default: 30 s. */
  readonly patienceMs?: number | undefined;
}

export interface WriteOptions {
  readonly turnId?: string | undefined;
  readonly journal?: readonly JournalWrite[] | undefined;
  /** The speaker, if not the agent that drives. */
  readonly by?: string | undefined;
  /** Default: false, which means that it rejects with the first failure of the store. */
  readonly patient?: boolean | undefined;
}

/**
 * A failure of the store that may pass (a full disk, a lock) is retried for as long as the session lives: those who
 * wait hear of it after `patienceMs`, and what was recorded is written when the store works again. What the log cannot
 * hold is replaced by what it can. Only the loss of the lease, of the session or of the store ends the recorder.
 */
export class Recorder {
  readonly #log: LogHead;
  readonly #pending = new PendingEntries();
  #flushing: Promise<void> | undefined;
  #failure: unknown;
  #restUntil = 0;
  #unhurried = false;
  #now = Number.NaN;
  #at = "";
  #endRest: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #writer: EntryWriter;
  /** Called once, when nothing can be written any more. */
  onBroken: (failure: unknown) => void = () => undefined;
  /** Called once per outage, when the store has failed for `patienceMs`; writing goes on when it works again. */
  onOutage: (failure: unknown) => void = () => undefined;
  /** Called when something of this turn could not be recorded as it was. */
  onRefused: (turnId: string | undefined, failure: RookeryError) => void = () => undefined;
  #requests: number;
  /** Asked by who drove the session before, and not yet asked again. */
  #left: Request[];
  /** Who speaks next; ahead of the state while a switch is being committed. */
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
    this.#left = state.requests.filter(({ toolId }) => toolId === undefined);
    this.#agent = state.agent;
  }

  get state(): SessionState {
    return this.#log.state;
  }

  /** True once nothing can be written any more: the lease, the session or the store is gone. */
  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** Is called with events that another process appended. */
  set onForeign(listener: (events: readonly SessionEvent[]) => void) {
    this.#log.onForeign = listener;
  }

  /** Never waits; throws why the recorder is broken, if it is. `by` is the speaker, if not the agent that drives. */
  record(bodies: readonly EventBody[], turnId?: string, journal: readonly JournalWrite[] = [], by?: string): void {
    this.#add(bodies, { turnId, journal, by, alone: false });
  }

  /** As `record`, for what is soon followed by more: it is written together with that, or a moment later. */
  note(bodies: readonly EventBody[], turnId?: string, journal: readonly JournalWrite[] = []): void {
    this.#unhurried = this.#flushing === undefined;
    this.record(bodies, turnId, journal);
  }

  /** Resolves when all of it is durable. If it rejects, it is not written later. */
  async write(bodies: readonly EventBody[], { patient = false, ...options }: WriteOptions = {}): Promise<void> {
    const entry = this.#add(bodies, { ...options, alone: true });
    if (entry === undefined) return;
    const durable = this.#pending.wait(patient, entry);
    this.#endRest();
    try {
      await durable;
    } catch (error) {
      this.#pending.withdraw(entry);
      this.#agent = this.state.agent;
      throw error;
    }
  }

  /** Resolves when there is room for more. */
  async ready(): Promise<void> {
    if (this.#pending.draftCount >= BUFFER_DRAFTS || this.#pending.length >= BUFFER_LENGTH) await this.commit();
  }

  /** Resolves when all that was recorded so far is durable. If it rejects for a reason that passes, that is tried on. */
  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure as Error;
    if (this.#flushing === undefined) return;
    const durable = this.#pending.wait(true);
    this.#endRest();
    await durable;
  }

  /** Makes every later record fail, and rejects those who wait: the session has lost its right to write. */
  break(failure: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#writer.stop(failure);
    this.onBroken(failure);
  }

  /** The session is being closed: failures of the store are waited out for two more seconds. */
  stopRetrying(): void {
    this.#writer.close();
  }

  /** The same question of the same turn, from before its process died: whoever asks it again needs no new one. */
  takeLeft(turnId: string | undefined, message: string): Request | undefined {
    const left = this.#left.find((request) => request.turnId === turnId && request.title === message);
    this.#left = this.#left.filter((request) => request !== left);
    return this.state.requests.find(({ requestId }) => requestId === left?.requestId);
  }

  /** Short, since people type it; two requests made at once get two. */
  nextRequestId(): string {
    this.#requests = Math.max(this.#requests, this.state.requestCount) + 1;
    return `r${this.#requests}`;
  }

  /** Takes what was read from the log; what is known already is passed over. */
  advance(events: readonly SessionEvent[]): void {
    this.#log.advance(events);
  }

  /** Reads what others appended since. */
  catchUp(): Promise<void> {
    return this.#log.catchUp();
  }

  /** Undefined if there is nothing to write. */
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

  /** Many events happen in the same millisecond. */
  #time(): string {
    const now = this.#clock.now();
    if (now !== this.#now) [this.#now, this.#at] = [now, new Date(now).toISOString()];
    return this.#at;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // what is recorded in this tick goes together
    await this.#rest();
    for (let entry = this.#pending.take(); entry !== undefined; entry = this.#pending.take()) {
      try {
        if (this.#failure !== undefined) throw this.#failure as Error;
        const started = performance.now();
        await this.#writer.write(entry);
        const ended = performance.now();
        this.#restUntil = ended + (ended - started);
        for (const { durable } of entry.waiters) durable.resolve();
      } catch (failure) {
        this.break(failure);
        rejectWaiters([entry, ...this.#pending.clear()], failure);
      }
    }
    this.#flushing = undefined;
  }

  /**
   * A slow disk is written to less often, and with more at a time: as long as the last write took, the next one waits
   * for what comes, unless somebody waits for it; and so does what was only noted.
   */
  async #rest(): Promise<void> {
    const restMs = this.#unhurried ? MAX_REST_MS : Math.min(this.#restUntil - performance.now(), MAX_REST_MS);
    this.#unhurried = false;
    if (restMs < MIN_REST_MS || [...this.#pending].some(({ waiters }) => waiters.length > 0)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs);
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endRest = () => undefined;
  }
}

function toWritableWrite(write: JournalWrite): { value: JournalWrite; length: number; problem?: string } {
  if (write.op !== "finish") return { value: write, length: 100 };
  const { value, ...measured } = toWritableValue(write.value);
  return { ...measured, value: { ...write, value } };
}

function tooMuchPending(length: number): RookeryError {
  const size = `${Math.ceil(length / 1e6)} MB of events wait to be written`;
  return new RookeryError("store_unavailable", `${size}, and no more fit: the agent is faster than the disk`);
}
