/** Shows a client what is in a session's log: first what there is, if that is wanted, then what comes, whoever writes it. */
import type { ClientPeer } from "../../acp/agent/index.ts";
import type * as acp from "../../acp/schema.ts";
import type { EventOf, SessionEvent } from "../../domain/events.ts";
import { SessionFold } from "../../domain/state-fold.ts";
import { emptyState, type SessionState } from "../../domain/state.ts";
import type { SessionStore } from "../../domain/store.ts";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { blocksOf } from "./input.ts";
import { nothingShown, show } from "./updates.ts";

export type Asked = EventOf<"permission.requested"> | EventOf<"question.asked">;

export interface LogViewOptions {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly client: ClientPeer;
  /** Did the client begin that turn? It knows what it said then. */
  readonly isOwn: (turnId: string) => boolean;
  /** Told of each event that comes while it is followed, once the client was shown it. */
  readonly onLive: (event: SessionEvent) => void | Promise<void>;
  /** The log cannot be read any more, or the client cannot be told. */
  readonly onBroken: (error: unknown) => void;
}

export class LogView {
  readonly #options: LogViewOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #stop = new AbortController();
  readonly #waiting = new Set<{ readonly seq: number; readonly reached: Deferred<void> }>();
  readonly #fold: SessionFold;
  #shown = nothingShown();
  /** The last event that the client was told all of. */
  #told = 0;
  #following: Promise<void> | undefined;
  #over = false;

  constructor(options: LogViewOptions) {
    this.#options = options;
    this.#fold = new SessionFold(emptyState(options.sessionId));
  }

  /** The session as far as it was read here. */
  get state(): SessionState {
    return this.#fold.state;
  }

  /** What the turn that runs waits for, and what is waited for between turns. */
  get asked(): readonly Asked[] {
    return [...this.#asked.values()];
  }

  /** Reads what there is. Rejects with `session_not_found`. */
  async read({ shown }: { readonly shown: boolean }): Promise<void> {
    const { store, sessionId } = this.#options;
    for (;;) {
      const { events, head } = await store.read({ sessionId, after: this.#fold.head });
      for (const event of events) await this.#take(event, { live: false, shown });
      this.#told = this.#fold.head;
      if (this.#fold.head >= head || events.length === 0) return;
    }
  }

  /** From here on what comes is shown. */
  follow(): void {
    this.#following ??= this.#follow();
  }

  /** Resolves when the client was shown everything up to that event, or can be shown nothing more. */
  async through(seq: number): Promise<void> {
    if (this.#told >= seq || this.#over) return;
    const reached = deferred();
    this.#waiting.add({ seq, reached });
    await reached.promise;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    this.#end();
  }

  async #follow(): Promise<void> {
    const { store, sessionId, onLive, onBroken } = this.#options;
    try {
      const after = this.#fold.head;
      for await (const event of store.follow({ sessionId, after, signal: this.#stop.signal })) {
        await this.#take(event, { live: true, shown: true });
        await onLive(event);
        this.#told = event.seq;
        this.#tell();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) onBroken(error);
    } finally {
      this.#end();
    }
  }

  async #take(event: SessionEvent, { live, shown }: { live: boolean; shown: boolean }): Promise<void> {
    this.#fold.add(event);
    this.#note(event);
    const [next, updates] = show(this.#shown, event, { live, state: this.#fold });
    this.#shown = next;
    if (!shown) return;
    if (event.type === "turn.started") await this.#showTurn(event, live);
    for (const update of updates) await this.#send(update);
  }

  async #showTurn(event: EventOf<"turn.started">, live: boolean): Promise<void> {
    const { store, sessionId, isOwn } = this.#options;
    const messageId = event.turnId ?? null;
    if (!isOwn(event.turnId ?? "")) {
      for (const content of await blocksOf(event.input, store)) {
        await this.#send({ sessionUpdate: "user_message_chunk", content, messageId });
      }
    }
    if (!live || this.state.turns > 1) return;
    const title = (await store.summary(sessionId))?.title;
    if (title !== undefined) await this.#send({ sessionUpdate: "session_info_update", title, updatedAt: event.at });
  }

  #note(event: SessionEvent): void {
    switch (event.type) {
      case "permission.requested":
      case "question.asked":
        this.#asked.set(event.requestId, event);
        return;
      case "permission.resolved":
      case "question.answered":
        this.#asked.delete(event.requestId);
        return;
      case "turn.ended":
        for (const { requestId, turnId } of this.#asked.values()) {
          if (turnId !== undefined) this.#asked.delete(requestId);
        }
        return;
      default: // nothing else is waited for
    }
  }

  #send(update: acp.SessionUpdate): Promise<void> {
    return this.#options.client.update(this.#options.sessionId, update);
  }

  #tell(): void {
    for (const waiting of this.#waiting) {
      if (waiting.seq > this.#told) continue;
      this.#waiting.delete(waiting);
      waiting.reached.resolve();
    }
  }

  #end(): void {
    this.#over = true;
    for (const { reached } of this.#waiting) reached.resolve();
    this.#waiting.clear();
  }
}
