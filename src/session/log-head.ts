/**
 * The head of a session's log as its writer sees it: appends events, applies events of other processes, and folds the
 * state.
 */
import {
  RookeryError,
  applyAll,
  isRookeryError,
  type EventDraft,
  type JournalWrite,
  type SessionEvent,
  type SessionState,
  type SessionStore,
} from "../domain/index.ts";

/** How many conflicts with other writers an append retries before it fails. */
const CONFLICT_LIMIT = 100;
/** Beyond this number, the oldest is forgotten. Appends that use it were refused or recorded long before. */
const MAX_DEQUEUED = 1_000;

export interface LogHeadOptions {
  readonly store: SessionStore;
  readonly state: SessionState;
  /** The generation of the lease. */
  readonly fence: number | undefined;
}

export interface LogAppend {
  /** The same for each attempt, so that an attempt that failed but was durable is not repeated. */
  readonly id: string;
  readonly events: readonly EventDraft[];
  readonly journal: readonly JournalWrite[];
}

export class LogHead {
  #state: SessionState;
  readonly #store: SessionStore;
  readonly #fence: number | undefined;
  /**
   * The last inputs that left the queue, and whether the first event that removed them was a withdrawal. An append of
   * this process may be about to use such an input, or may have used it although the store reported a failure.
   */
  readonly #dequeued = new Map<string, "used" | "withdrawn">();
  /** Called with events that another process appended. */
  onForeign: (events: readonly SessionEvent[]) => void = () => undefined;

  constructor({ store, state, fence }: LogHeadOptions) {
    this.#store = store;
    this.#state = state;
    this.#fence = fence;
  }

  get state(): SessionState {
    return this.#state;
  }

  /**
   * Rejects like `SessionStore.append`, with `session_closed` if the append would start something in a session that
   * another process closed, with `input_not_queued` if it would use an input that was used or withdrawn before, and
   * with `input_invalid` if the state cannot be computed from the events.
   */
  async append(append: LogAppend): Promise<void> {
    const { id: sessionId } = this.#state;
    for (let tries = 1; ; tries += 1) {
      this.#requireQueued(append.events);
      const expectedHead = this.#state.head;
      const events = this.#toEvents(append.events, expectedHead);
      const next = this.#fold(events);
      try {
        const { head } = await this.#store.append({ sessionId, fence: this.#fence, ...append, expectedHead });
        if (this.#state.head === expectedHead && head === expectedHead + events.length) {
          this.#state = next;
          this.#noteDequeued(events);
        } else this.#applyNew(this.#toEvents(append.events, head - events.length));
        return;
      } catch (error) {
        // Another process appended an answer or an input first: apply it, and append after it.
        if (!isRookeryError(error, "append_conflict")) throw error;
        if (tries >= CONFLICT_LIMIT) throw tooManyConflicts(sessionId, error);
        await this.catchUp();
        const startsWork = append.events.some(({ type }) => type === "turn.started" || type === "input.queued");
        if (startsWork && this.#state.closed) {
          throw new RookeryError("session_closed", `session ${sessionId} was closed by another process`, {
            cause: error,
          });
        }
      }
    }
  }

  /** Applies events that were read from the log. Skips events that are already applied. */
  advance(events: readonly SessionEvent[]): void {
    const fresh = this.#applyNew(events);
    if (fresh.length > 0) this.onForeign(fresh);
  }

  /** Reads and applies the events that other processes appended. */
  async catchUp(): Promise<void> {
    for (;;) {
      const { events, head } = await this.#store.read({ sessionId: this.#state.id, after: this.#state.head });
      this.advance(events);
      if (this.#state.head >= head || events.length === 0) return;
    }
  }

  /** Like `catchUp`, but does nothing if our own appends explain this head. */
  async catchUpTo(head: number): Promise<void> {
    if (this.#state.head >= head) return;
    await new Promise((resolve) => setImmediate(resolve)); // an append of ours that has just been committed is applied first
    if (this.#state.head < head) await this.catchUp();
  }

  /** Folds our own events before they are appended, so that an invalid event does not reach the log. */
  #fold(events: readonly SessionEvent[]): SessionState {
    try {
      return applyAll(this.#state, events);
    } catch (cause) {
      const types = [...new Set(events.map(({ type }) => type))].join(", ").slice(0, 200);
      throw new RookeryError("input_invalid", `an event cannot be applied to the session (${types})`, { cause });
    }
  }

  /**
   * Of the events that remove an input from the queue, only the first one counts, no matter which process writes it. An
   * input that is used is not compared with the queue, because a failed append of this event may be durable.
   */
  #requireQueued(events: readonly EventDraft[]): void {
    for (const event of events) {
      const isUsed = event.type === "turn.started" || event.type === "input.delivered";
      if (!isUsed && event.type !== "input.withdrawn") continue;
      const { inputId } = event;
      const isGone = isUsed
        ? inputId !== undefined && this.#dequeued.get(inputId) === "withdrawn"
        : !this.#state.queue.some((queued) => queued.inputId === inputId);
      if (isGone) throw inputNotQueued(this.#state.id, inputId ?? "");
    }
  }

  #noteDequeued(events: readonly SessionEvent[]): void {
    for (const event of events) {
      const isUsed = event.type === "turn.started" || event.type === "input.delivered";
      if (!isUsed && event.type !== "input.withdrawn") continue;
      const { inputId } = event;
      if (inputId === undefined || this.#dequeued.has(inputId)) continue;
      this.#dequeued.set(inputId, isUsed ? "used" : "withdrawn");
    }
    for (const inputId of this.#dequeued.keys()) {
      if (this.#dequeued.size <= MAX_DEQUEUED) break;
      this.#dequeued.delete(inputId);
    }
  }

  #toEvents(drafts: readonly EventDraft[], head: number): SessionEvent[] {
    return drafts.map((draft, index) => ({ seq: head + 1 + index, sessionId: this.#state.id, ...draft }));
  }

  #applyNew(events: readonly SessionEvent[]): readonly SessionEvent[] {
    const fresh = events.filter((event) => event.seq > this.#state.head);
    this.#state = applyAll(this.#state, fresh);
    this.#noteDequeued(fresh);
    return fresh;
  }
}

export function inputNotQueued(sessionId: string, inputId: string): RookeryError {
  const what = `input ${inputId} of session ${sessionId} does not wait anymore`;
  return new RookeryError("input_not_queued", `${what}: the agent has it, or it was withdrawn`);
}

function tooManyConflicts(sessionId: string, cause: RookeryError): RookeryError {
  const message = `other processes write to session ${sessionId} so often that its own events cannot be appended; try again later`;
  return new RookeryError("store_unavailable", message, { cause });
}
