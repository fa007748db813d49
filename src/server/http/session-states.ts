/** Folded states of sessions. Keeps those of long logs, so that the next request reads only the new events. */
import type { SessionState, SessionStore } from "../../domain/index.ts";
import { loadState } from "../../session/index.ts";

/** Shorter logs are read in a few milliseconds. */
const MIN_KEPT_EVENTS = 2_000;
/** Beyond this number, the least recently used state is forgotten. */
const MAX_KEPT_STATES = 16;

type ReadableStore = Pick<SessionStore, "read">;

export class SessionStates {
  readonly #store: ReadableStore;
  readonly #kept = new Map<string, SessionState>();
  readonly #loading = new Map<string, Promise<SessionState>>();

  constructor(store: ReadableStore) {
    this.#store = store;
  }

  /** The state at or after `head`. Concurrent requests for a session share one read. Rejects with `session_not_found`. */
  async read(sessionId: string, head: number): Promise<SessionState> {
    for (;;) {
      const loading = this.#loading.get(sessionId);
      if (loading === undefined) break;
      const state = await loading;
      if (state.head >= head) return state;
    }
    const load = loadState(this.#store, sessionId, this.#kept.get(sessionId));
    this.#loading.set(sessionId, load);
    try {
      const state = await load;
      this.#keep(state);
      return state;
    } finally {
      this.#loading.delete(sessionId);
    }
  }

  #keep(state: SessionState): void {
    if (state.head < MIN_KEPT_EVENTS) return;
    this.#kept.delete(state.id);
    this.#kept.set(state.id, state);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT_STATES) this.#kept.delete(oldest);
  }
}

const statesByStore = new WeakMap<ReadableStore, SessionStates>();

/** The states of one store, which all requests share. */
export function sessionStatesOf(store: ReadableStore): SessionStates {
  const known = statesByStore.get(store) ?? new SessionStates(store);
  statesByStore.set(store, known);
  return known;
}
