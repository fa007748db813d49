/** Sends the events of a session to an ACP client: optionally the existing ones, then new ones from any process. */
import type { ClientPeer } from "../../acp/agent/index.ts";
import type * as acp from "../../acp/schema.ts";
import type { EventOf, SessionEvent } from "../../domain/events.ts";
import { SessionFold } from "../../domain/state-fold.ts";
import { emptyState, type SessionState } from "../../domain/state.ts";
import type { SessionStore } from "../../domain/store.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { toAcpContentBlocks } from "./input.ts";
import { emptyShownContent, toClientUpdates } from "./updates.ts";

export type AcpPendingRequest = EventOf<"permission.requested"> | EventOf<"question.asked">;

export interface LogViewOptions {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly client: ClientPeer;
  /** Whether this client started the turn. Its prompt is then not sent back. */
  readonly isOwn: (turnId: string) => boolean;
  /** Called for each new event after the client has received it. */
  readonly onLive: (event: SessionEvent) => void | Promise<void>;
  /** Called if reading the log or sending to the client fails. */
  readonly onFailure: (error: unknown) => void;
}

export class LogView {
  readonly #options: LogViewOptions;
  readonly #pendingRequests = new Map<string, AcpPendingRequest>();
  readonly #abort = new AbortController();
  readonly #waiters = new Set<{ readonly seq: number; readonly reached: Deferred<void> }>();
  readonly #fold: SessionFold;
  #shown = emptyShownContent();
  /** The sequence number of the last event that was handled completely. */
  #shownSeq = 0;
  #following: Promise<void> | undefined;
  #stopped = false;

  constructor(options: LogViewOptions) {
    this.#options = options;
    this.#fold = new SessionFold(emptyState(options.sessionId));
  }

  /** The session state at the last event read. */
  get state(): SessionState {
    return this.#fold.state;
  }

  /** Unanswered requests of the running turn and outside of turns. */
  get pendingRequests(): readonly AcpPendingRequest[] {
    return [...this.#pendingRequests.values()];
  }

  /** Reads the existing events. Rejects with `session_not_found`. */
  async read({ shown }: { readonly shown: boolean }): Promise<void> {
    const { store, sessionId } = this.#options;
    for (;;) {
      const { events, head } = await store.read({ sessionId, after: this.#fold.head });
      for (const event of events) await this.#handleEvent(event, { live: false, shown });
      this.#shownSeq = this.#fold.head;
      if (this.#fold.head >= head || events.length === 0) return;
    }
  }

  /** Starts sending new events. */
  follow(): void {
    this.#following ??= this.#follow();
  }

  /** Resolves when the client has received everything up to this event, or when following has stopped. */
  async waitUntilShown(seq: number): Promise<void> {
    if (this.#shownSeq >= seq || this.#stopped) return;
    const reached = deferred();
    this.#waiters.add({ seq, reached });
    await reached.promise;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#following;
    this.#finish();
  }

  async #follow(): Promise<void> {
    const { store, sessionId, onLive, onFailure } = this.#options;
    try {
      const after = this.#fold.head;
      for await (const event of store.follow({ sessionId, after, signal: this.#abort.signal })) {
        await this.#handleEvent(event, { live: true, shown: true });
        await onLive(event);
        this.#shownSeq = event.seq;
        this.#resolveWaiters();
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) onFailure(error);
    } finally {
      this.#finish();
    }
  }

  async #handleEvent(event: SessionEvent, { live, shown }: { live: boolean; shown: boolean }): Promise<void> {
    this.#fold.add(event);
    this.#trackRequest(event);
    const [next, updates] = toClientUpdates(this.#shown, event, { live, state: this.#fold });
    this.#shown = next;
    if (!shown) return;
    if (event.type === "turn.started") await this.#showTurn(event, live);
    for (const update of updates) await this.#send(update);
  }

  async #showTurn(event: EventOf<"turn.started">, live: boolean): Promise<void> {
    const { store, sessionId, isOwn } = this.#options;
    const messageId = event.turnId ?? null;
    if (!isOwn(event.turnId ?? "")) {
      for (const content of await toAcpContentBlocks(event.input, store)) {
        await this.#send({ sessionUpdate: "user_message_chunk", content, messageId });
      }
    }
    if (!live || this.state.turns > 1) return;
    const title = (await store.summary(sessionId))?.title;
    if (title !== undefined) await this.#send({ sessionUpdate: "session_info_update", title, updatedAt: event.at });
  }

  #trackRequest(event: SessionEvent): void {
    switch (event.type) {
      case "permission.requested":
      case "question.asked":
        this.#pendingRequests.set(event.requestId, event);
        return;
      case "permission.resolved":
      case "question.answered":
        this.#pendingRequests.delete(event.requestId);
        return;
      case "turn.ended":
        for (const { requestId, turnId } of this.#pendingRequests.values()) {
          if (turnId !== undefined) this.#pendingRequests.delete(requestId);
        }
        return;
      default: // no other event affects pending requests
    }
  }

  #send(update: acp.SessionUpdate): Promise<void> {
    return this.#options.client.update(this.#options.sessionId, update);
  }

  #resolveWaiters(): void {
    for (const waiter of this.#waiters) {
      if (waiter.seq > this.#shownSeq) continue;
      this.#waiters.delete(waiter);
      waiter.reached.resolve();
    }
  }

  #finish(): void {
    this.#stopped = true;
    for (const { reached } of this.#waiters) reached.resolve();
    this.#waiters.clear();
  }
}
