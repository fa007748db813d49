/** The head of a session's log as its writer sees it: appends after it, applies what others appended, folds the state. */
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

/** How often an append may be overtaken by outsiders before it counts as a failure of the store. */
const CONFLICT_LIMIT = 100;

export interface LogHeadOptions {
  readonly store: SessionStore;
  readonly state: SessionState;
  /** The generation of the lease. */
  readonly fence: number | undefined;
}

export interface LogAppend {
  /** The same for each attempt: one that was durable although it failed is not written again. */
  readonly id: string;
  readonly events: readonly EventDraft[];
  readonly journal: readonly JournalWrite[];
}

export class LogHead {
  #state: SessionState;
  readonly #store: SessionStore;
  readonly #fence: number | undefined;
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
   * Rejects as `SessionStore.append` does, with `session_closed` if the append would start something in a session that
   * was closed elsewhere, and with `input_invalid` if the state cannot be computed from the events.
   */
  async append(append: LogAppend): Promise<void> {
    const { id: sessionId } = this.#state;
    for (let tries = 1; ; tries += 1) {
      const expectedHead = this.#state.head;
      const events = this.#numbered(append.events, expectedHead);
      const next = this.#fold(events);
      try {
        const { head } = await this.#store.append({ sessionId, fence: this.#fence, ...append, expectedHead });
        if (this.#state.head === expectedHead && head === expectedHead + events.length) this.#state = next;
        else this.#take(this.#numbered(append.events, head - events.length));
        return;
      } catch (error) {
        // Another process appended an answer or an input first: apply it, and append after it.
        if (!isRookeryError(error, "append_conflict")) throw error;
        if (tries >= CONFLICT_LIMIT) throw tooManyConflicts(sessionId, error);
        await this.catchUp();
        const begins = append.events.some(({ type }) => type === "turn.started" || type === "input.queued");
        if (begins && this.#state.closed) {
          throw new RookeryError("session_closed", `session ${sessionId} was closed elsewhere`, { cause: error });
        }
      }
    }
  }

  /** Applies events that were read from the log. Skips those that are already applied. */
  advance(events: readonly SessionEvent[]): void {
    const fresh = this.#take(events);
    if (fresh.length > 0) this.onForeign(fresh);
  }

  /** Reads and applies what others have appended. */
  async catchUp(): Promise<void> {
    for (;;) {
      const { events, head } = await this.#store.read({ sessionId: this.#state.id, after: this.#state.head });
      this.advance(events);
      if (this.#state.head >= head || events.length === 0) return;
    }
  }

  /** Our own events, before they are in the log: if they cannot be applied, the log is not damaged. */
  #fold(events: readonly SessionEvent[]): SessionState {
    try {
      return applyAll(this.#state, events);
    } catch (cause) {
      const types = [...new Set(events.map(({ type }) => type))].join(", ").slice(0, 200);
      throw new RookeryError("input_invalid", `an event cannot be applied to the session (${types})`, { cause });
    }
  }

  #numbered(drafts: readonly EventDraft[], head: number): SessionEvent[] {
    return drafts.map((draft, index) => ({ seq: head + 1 + index, sessionId: this.#state.id, ...draft }));
  }

  #take(events: readonly SessionEvent[]): readonly SessionEvent[] {
    const fresh = events.filter((event) => event.seq > this.#state.head);
    this.#state = applyAll(this.#state, fresh);
    return fresh;
  }
}

function tooManyConflicts(sessionId: string, cause: RookeryError): RookeryError {
  const message = `other processes write to session ${sessionId} without a pause, so its own events wait; try again later`;
  return new RookeryError("store_unavailable", message, { cause });
}
