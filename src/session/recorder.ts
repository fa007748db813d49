/** The one pen of a live session: orders what is recorded, merges deltas, appends in groups, and folds the state. */
import {
  RookeryError,
  applyAll,
  isRookeryError,
  newId,
  type EventBody,
  type EventDraft,
  type JournalWrite,
  type Request,
  type SessionEvent,
  type SessionState,
  type SessionStore,
} from "../domain/index.ts";
import { deferred, type Clock, type Deferred } from "../stdx/index.ts";
import { mergeInto } from "./merge.ts";

/** Past this many drafts that wait to be committed, `ready` waits. */
const BUFFER_LIMIT = 1_000;
/** What is said is to be seen soon, and no timer is shorter. */
const MOST_REST_MS = 5;
const LEAST_REST_MS = 1;
/** How often an append may be overtaken by outsiders before it is called broken. */
const CONFLICT_LIMIT = 100;

export interface RecorderOptions {
  readonly store: SessionStore;
  readonly state: SessionState;
  readonly fence: number | undefined;
  readonly clock: Clock;
}

export class Recorder {
  #state: SessionState;
  #drafts: EventDraft[] = [];
  #journal: JournalWrite[] = [];
  #waiting: Deferred<void>[] = [];
  #flushing: Promise<void> | undefined;
  #failure: unknown;
  #restUntil = 0;
  #unhurried = false;
  #now = Number.NaN;
  #at = "";
  #wake: () => void = () => undefined;
  readonly #store: SessionStore;
  readonly #fence: number | undefined;
  readonly #clock: Clock;
  /** Told of events that another process appended. */
  onForeign: (events: readonly SessionEvent[]) => void = () => undefined;
  /** Told once, when nothing can be written any more. */
  onBroken: (failure: unknown) => void = () => undefined;
  #requests: number;
  /** Asked by who drove the session before, and not yet asked again. */
  #left: Request[];
  /** Who speaks next; ahead of the state while a switch is being committed. */
  #agent: string;

  constructor({ store, state, fence, clock }: RecorderOptions) {
    this.#store = store;
    this.#state = state;
    this.#fence = fence;
    this.#clock = clock;
    this.#requests = state.requestCount;
    this.#left = state.requests.filter(({ toolId }) => toolId === undefined);
    this.#agent = state.agent;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Never waits; throws what broke the log, if it is broken. `by` is whoever speaks, if it is not the agent that drives. */
  record(bodies: readonly EventBody[], turnId?: string, journal: readonly JournalWrite[] = [], by?: string): void {
    if (this.#failure !== undefined) throw this.#failure as Error;
    const at = this.#time();
    for (const body of bodies) {
      const stamp = { at, agent: by ?? this.#agent, turnId };
      if (!mergeInto(this.#drafts.at(-1), body, stamp)) this.#drafts.push({ ...body, ...stamp });
      if (body.type === "agent.switched") this.#agent = body.to;
    }
    this.#journal.push(...journal);
    if (this.#drafts.length > 0 || this.#journal.length > 0) this.#flushing ??= this.#flush();
  }

  /** As `record`, for what is soon followed by more: it is written together with that, or a moment later. */
  note(bodies: readonly EventBody[], turnId?: string, journal: readonly JournalWrite[] = []): void {
    this.#unhurried = this.#flushing === undefined;
    this.record(bodies, turnId, journal);
  }

  /** Many events happen in the same millisecond. */
  #time(): string {
    const now = this.#clock.now();
    if (now !== this.#now) [this.#now, this.#at] = [now, new Date(now).toISOString()];
    return this.#at;
  }

  async ready(): Promise<void> {
    if (this.#drafts.length >= BUFFER_LIMIT) await this.commit();
  }

  /** Resolves when all that was recorded so far is durable. */
  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure as Error;
    if (this.#flushing === undefined) return;
    const durable = deferred();
    this.#waiting.push(durable);
    this.#wake();
    await durable.promise;
  }

  /** Makes every later record fail, and whoever waits: the session has lost its right to write. */
  break(failure: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.onBroken(failure);
  }

  /** The same question of the same turn, from before its process died: whoever asks it again needs no new one. */
  takeLeft(turnId: string | undefined, message: string): Request | undefined {
    const left = this.#left.find((request) => request.turnId === turnId && request.title === message);
    this.#left = this.#left.filter((request) => request !== left);
    return this.#state.requests.find(({ requestId }) => requestId === left?.requestId);
  }

  /** Short, since people type it; two requests made at once get two. */
  nextRequestId(): string {
    this.#requests = Math.max(this.#requests, this.#state.requestCount) + 1;
    return `r${this.#requests}`;
  }

  /** Takes what was read from the log; what is known already is passed over. */
  advance(events: readonly SessionEvent[]): void {
    const fresh = this.#take(events);
    if (fresh.length > 0) this.onForeign(fresh);
  }

  /** Reads what others appended since. */
  async catchUp(): Promise<void> {
    for (;;) {
      const { events, head } = await this.#store.read({ sessionId: this.#state.id, after: this.#state.head });
      this.advance(events);
      if (this.#state.head >= head || events.length === 0) return;
    }
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // what is recorded in this tick goes together
    await this.#rest();
    while (this.#drafts.length > 0 || this.#journal.length > 0 || this.#waiting.length > 0) {
      const group = { drafts: this.#drafts, journal: this.#journal, waiting: this.#waiting };
      this.#drafts = [];
      this.#journal = [];
      this.#waiting = [];
      try {
        if (this.#failure !== undefined) throw this.#failure as Error;
        if (group.drafts.length > 0 || group.journal.length > 0) await this.#timed(group.drafts, group.journal);
        for (const waiter of group.waiting) waiter.resolve();
      } catch (failure) {
        this.break(failure);
        for (const waiter of [...group.waiting, ...this.#waiting]) waiter.reject(failure);
        this.#waiting = [];
        this.#drafts = [];
        this.#journal = [];
      }
    }
    this.#flushing = undefined;
  }

  async #timed(events: readonly EventDraft[], journal: readonly JournalWrite[]): Promise<void> {
    const started = performance.now();
    await this.#append(events, journal);
    const ended = performance.now();
    this.#restUntil = ended + (ended - started);
  }

  /**
   * A disk that is slow is written to less often, and with more at a time: as long as the last write took, the next one
   * waits for what comes, unless somebody waits for it; and so does what was only noted.
   */
  async #rest(): Promise<void> {
    const restMs = this.#unhurried ? MOST_REST_MS : Math.min(this.#restUntil - performance.now(), MOST_REST_MS);
    this.#unhurried = false;
    if (restMs < LEAST_REST_MS || this.#waiting.length > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }

  async #append(events: readonly EventDraft[], journal: readonly JournalWrite[]): Promise<void> {
    const append = {
      sessionId: this.#state.id,
      id: newId("app", this.#clock.now()),
      fence: this.#fence,
      events,
      journal,
    };
    for (let tries = 1; ; tries += 1) {
      const expectedHead = this.#state.head;
      try {
        await this.#store.append({ ...append, expectedHead });
        this.#take(
          events.map((draft, index) => ({ seq: expectedHead + 1 + index, sessionId: this.#state.id, ...draft })),
        );
        return;
      } catch (error) {
        // An outsider's answer or input came in between: take it, and write behind it.
        if (!isRookeryError(error, "append_conflict") || tries >= CONFLICT_LIMIT) throw error;
        await this.catchUp();
        const begins = events.some(({ type }) => type === "turn.started" || type === "input.queued");
        if (begins && this.#state.closed) {
          throw new RookeryError("session_closed", `session ${this.#state.id} was closed elsewhere`, { cause: error });
        }
      }
    }
  }

  #take(events: readonly SessionEvent[]): readonly SessionEvent[] {
    const fresh = events.filter((event) => event.seq > this.#state.head);
    this.#state = applyAll(this.#state, fresh);
    return fresh;
  }
}
