/** A session with an agent: its updates and requests, one prompt at a time, and cancellation of exactly that prompt. */
import { RookeryError } from "../../domain/errors.ts";
import type { RequestOptions } from "../connection/connection.ts";
import type { IncomingNotification, IncomingRequest, Verbatim } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import type { ArrivalLog } from "./routing/arrival-log.ts";
import { toContentBlocks, getCancelledAnswer, toPromptOutcome } from "./turn/prompt-outcome.ts";
import { LateUpdateFilter } from "./turn/late-updates.ts";
import { Backpressure } from "./buffer/backpressure.ts";
import { HARD_LIMIT, unreadLimitError } from "./buffer/limits.ts";
import type { SessionOptions } from "./session-handlers.ts";
import { SessionInbox } from "./buffer/session-inbox.ts";
import type { SessionItem, StopItem, UpdateItem, When } from "./session-items.ts";
import { serveSessionRequest, type RequestServing } from "./routing/serve-request.ts";
import { ActiveTurn } from "./turn/active-turn.ts";
import { createClientTurn, type ClientTurn } from "./turn/client-turn.ts";

export type { SessionOptions } from "./session-handlers.ts";

/** Sends messages to the agent: a connection, or a proxy's port. */
export interface SessionLink {
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result>;
  notify(method: string, params?: unknown): Promise<void>;
}

export interface ClientSessionParts {
  readonly connection: SessionLink;
  readonly id: string;
  readonly options: SessionOptions;
  /** Shared by all sessions of the connection. Default: a new one. */
  readonly backpressure?: Backpressure | undefined;
  /** The arrivals of the connection. Separates messages that arrived before a prompt from those of its turn. */
  readonly arrivals?: ArrivalLog | undefined;
  /** Whether the agent supports `session/close`. Default: true. */
  readonly closes?: boolean | undefined;
  /** Keeps unread items for another reader: nothing is skipped, and up to 64 MiB is kept. Default: false. */
  readonly keepsUnread?: boolean | undefined;
  /** Called once when the session is left: no more messages are routed to it. */
  readonly leave: (session: ClientSession) => Promise<void>;
}

export class ClientSession implements AsyncDisposable {
  readonly id: string;
  readonly #parts: ClientSessionParts;
  readonly #backpressure: Backpressure;
  readonly #inbox: SessionInbox;
  readonly #lateUpdates = new LateUpdateFilter();
  #setUp: Verbatim | undefined;
  #loading = false;
  #turn: ActiveTurn | undefined;
  #idle: Promise<void> = Promise.resolve();
  #left = false;
  #closing: Promise<void> | undefined;
  #leaving: Promise<void> | undefined;
  #broken: { readonly error: unknown } | undefined;

  constructor(parts: ClientSessionParts) {
    const { id, options, backpressure = new Backpressure(), keepsUnread } = parts;
    this.#parts = parts;
    this.#backpressure = backpressure;
    this.#inbox = new SessionInbox(options.update?.bind(options), (error) => this.#break(error), keepsUnread);
    this.id = id;
  }

  /** The agent's answer to the request that started the session: its modes, its options, and other fields. */
  get response(): acp.NewSessionResponse {
    return { sessionId: this.id, ...(this.#setUp?.result as Partial<acp.NewSessionResponse> | null | undefined) };
  }

  /** The same answer as it came. */
  get setUp(): Verbatim | undefined {
    return this.#setUp;
  }

  get connection(): SessionLink {
    return this.#parts.connection;
  }

  /** True if the session was closed or disposed: prompts are refused, and no messages are routed here. */
  get isLeft(): boolean {
    return this.#left;
  }

  /** True if a handler of the session threw. Every prompt rejects from then on; start another session. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  /**
   * Number of updates that were dropped because nobody read them in time. Updates of a turn with a reader are never
   * dropped.
   */
  get dropped(): number {
    return this.#inbox.unread.dropped;
  }

  /**
   * Starts a turn. Throws `turn_in_progress` or `session_closed`. Aborting the signal cancels the turn. If the signal
   * has already fired, the turn ends as cancelled and nothing is sent to the agent.
   */
  prompt(
    prompt: string | acp.ContentBlock | readonly acp.ContentBlock[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): ClientTurn {
    this.#assertUsable();
    if (this.#turn !== undefined) {
      const message = `session ${this.id} already has a running turn: wait for its end, or cancel it`;
      throw new RookeryError("turn_in_progress", message);
    }
    const turn = new ActiveTurn(this.#inbox.unread.addTurn(), this.#parts.arrivals?.last);
    this.#turn = turn;
    this.#idle = turn.ended.promise;
    if (signal?.aborted === true) this.#endTurn(turn, { kind: "stop", response: { stopReason: "cancelled" } });
    else void this.#run(turn, { sessionId: this.id, prompt: toContentBlocks(prompt) }, signal);
    return createClientTurn({
      response: turn.response.promise,
      next: () => this.#inbox.unread.nextOfTurn(turn.items),
      discard: () => this.#inbox.unread.discardTurn(turn.items),
      cancel: () => this.#cancel(turn),
      onAwaited: () => turn.stopWaitingForReader(),
    });
  }

  /** Asks the agent to stop the running turn, if there is one, and answers its open questions with `cancelled`. */
  async cancel(): Promise<void> {
    if (this.#turn !== undefined) await this.#cancel(this.#turn);
  }

  /** Resolves when no turn runs. Reads nothing, and does not make the agent wait for a reader. */
  idle(): Promise<void> {
    this.#turn?.stopWaitingForReader();
    return this.#idle;
  }

  /**
   * Returns the oldest unread item of the session, for callers that do not iterate over turns. Rejects if a turn
   * failed; the next call continues after it. Once the session has ended, every call rejects with the reason.
   */
  next(): Promise<SessionItem> {
    return this.#inbox.unread.next();
  }

  /** Removes and returns all unread items, including those that wait for the `update` handler. */
  take(): SessionItem[] {
    return this.#inbox.take();
  }

  setMode(modeId: string): Promise<acp.SetSessionModeResponse> {
    return this.request("session/set_mode", { modeId });
  }

  /** Resolves with all options, because one option may change another. */
  setConfigOption(configId: string, value: string | boolean): Promise<acp.SetSessionConfigOptionResponse> {
    const typed = typeof value === "boolean" ? { type: "boolean", value } : { value };
    return this.request("session/set_config_option", { configId, ...typed });
  }

  /** Some agents still use this method, although the protocol now has config options. */
  setModel(modelId: string): Promise<unknown> {
    return this.request("session/set_model", { modelId });
  }

  /** Sends any request about this session, for example one of an extension. The session id is added to the params. */
  async request<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    this.#assertUsable();
    const { connection } = this.#parts;
    return this.#backpressure.waitForCall(() => connection.request<Result>(method, { sessionId: this.id, ...params }));
  }

  /**
   * Closes the session on the agent's side, if the agent supports that, and leaves it. Cancels the running turn. A
   * second call waits for the first. Does nothing if the session was disposed before.
   */
  close(): Promise<void> {
    this.#closing ??= this.#leaving ?? this.#close();
    return this.#closing;
  }

  /** Leaves the session: no more messages are routed here. The agent keeps the session; a running turn is cancelled. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** Called by the setup: updates before its response are history. */
  startLoading(): void {
    this.#loading = true;
    this.#inbox.open();
  }

  /** Called by the setup, in wire order, when the agent has answered. */
  recordSetup(setUp: Verbatim): void {
    this.#setUp = setUp;
    this.#loading = false;
    this.#inbox.open();
  }

  /** Called by the setup: this many updates came before the agent named the session and were too many to keep. */
  recordLost(count: number): void {
    if (this.#parts.options.update === undefined) this.#inbox.unread.recordLost(count);
    else this.#break(unreadLimitError(HARD_LIMIT));
  }

  /**
   * Called by the setup. Resolves when the `update` handler is done with what came before; rejects with what it threw.
   */
  async waitUntilHandled(): Promise<void> {
    await this.#inbox.drained;
    this.#throwIfBroken();
  }

  /** Called by the connection for a `session/update`. */
  onUpdate({ params, line }: IncomingNotification): void | Promise<void> {
    const notification = params as acp.SessionNotification;
    const { update } = notification;
    const item: UpdateItem = { kind: "update", when: this.#classifyUpdate(update), update, notification, line };
    const room = this.#inbox.push(item, this.#turn);
    return room && this.#backpressure.holdPipe(this, room);
  }

  /** Called by the connection for any other notification that names this session. */
  async onNotification(notification: IncomingNotification): Promise<void> {
    try {
      await this.#parts.options.notification?.(notification);
    } catch (error) {
      this.#break(error);
    }
  }

  /** Called by the connection for a request that names this session. */
  async onRequest(request: IncomingRequest): Promise<unknown> {
    const cancelled = getCancelledAnswer(request.method);
    if (cancelled === undefined) return this.#serve(request, request.signal);
    if (this.#turn !== undefined) {
      return this.#turn.ask(cancelled, request.signal, (signal) => this.#serve(request, signal));
    }
    const { toolCall } = request.params as { toolCall?: { toolCallId?: unknown } | null };
    return this.#lateUpdates.isLateTool(toolCall?.toolCallId) ? cancelled : this.#serve(request, request.signal);
  }

  /** Called by the connection when no more messages will come. */
  onConnectionEnd(error: Error): void {
    this.#inbox.unread.close(error);
  }

  async #close(): Promise<void> {
    const { connection, closes = true } = this.#parts;
    this.cancel().catch(() => undefined); // without a connection there is nothing to cancel
    try {
      if (closes)
        await this.#backpressure.waitForCall(() => connection.request("session/close", { sessionId: this.id }));
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  async #leave(): Promise<void> {
    this.#left = true;
    this.cancel().catch(() => undefined); // same as in #close
    if (this.#turn === undefined) this.#inbox.unread.close(this.#createClosedError());
    await this.#parts.leave(this);
  }

  async #run(turn: ActiveTurn, params: acp.PromptRequest, signal: AbortSignal | undefined): Promise<void> {
    const abort = (): void => void this.#cancel(turn).catch(() => undefined); // a lost connection fails the turn itself
    signal?.addEventListener("abort", abort, { once: true });
    const apart = this.#backpressure.isHeld; // the holder releases it by itself, so this turn must not bypass it
    const end = this.#backpressure.startWait(this);
    try {
      await this.#parts.connection.request("session/prompt", params, {
        apart,
        onResponse: (response) => this.#endTurn(turn, toPromptOutcome(response, turn.cancelled)),
      });
    } catch (error) {
      this.#endTurn(turn, error instanceof Error ? error : new Error(String(error)));
    } finally {
      end();
      signal?.removeEventListener("abort", abort);
    }
  }

  #endTurn(turn: ActiveTurn, how: StopItem | Error): void {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    if (turn.cancelled) this.#lateUpdates.addCancelledTurn(turn.subjects.seen);
    if (how instanceof Error) turn.cancelQuestions();
    this.#inbox.unread.endTurn(turn.items, how);
    if (this.#left) this.#inbox.unread.close(this.#createClosedError());
    turn.ended.resolve();
    const { keepsUnread } = this.#parts;
    const settle = (): void => {
      if (this.#broken !== undefined) turn.response.reject(this.#broken.error);
      else if (how instanceof Error) turn.response.reject(how);
      else if (keepsUnread === true && turn.items.lost !== undefined) turn.response.reject(turn.items.lost);
      else turn.response.resolve(how.response);
    };
    const { drained } = this.#inbox;
    if (drained === undefined) settle();
    else void drained.then(settle);
  }

  async #cancel(turn: ActiveTurn): Promise<void> {
    if (this.#turn !== turn || turn.cancelled) return;
    const notified = this.#parts.connection.notify("session/cancel", { sessionId: this.id });
    turn.cancel();
    await notified;
  }

  #serve(request: IncomingRequest, signal: AbortSignal): Promise<unknown> {
    const server: RequestServing = {
      sessionId: this.id,
      options: this.#parts.options,
      backpressure: this.#backpressure,
      updatesBefore: () => this.#inbox.drained,
      hasReader: this.#setUp !== undefined,
      passItem: (item) => this.#inbox.pushRequest(item, this.#turn),
    };
    return serveSessionRequest(server, request, signal);
  }

  #classifyUpdate(update: acp.SessionUpdate): When {
    if (this.#loading) return "replay";
    const { arrivals } = this.#parts;
    if (this.#turn === undefined || this.#turn.startedAfter(arrivals?.current) || this.#lateUpdates.isLate(update))
      return "between";
    this.#turn.subjects.add(update);
    return "turn";
  }

  /** Breaks the session, because its handler lost an update. Other sessions are not affected. */
  #break(error: unknown): void {
    this.#broken ??= { error };
    this.#inbox.stop();
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.response.reject(error);
    this.#inbox.unread.failTurn(turn.items, error instanceof Error ? error : new Error(String(error)));
    void this.#cancel(turn).catch(() => undefined); // a lost connection ends the turn too
  }

  #assertUsable(): void {
    if (this.#left) throw this.#createClosedError();
    this.#throwIfBroken();
  }

  #throwIfBroken(): void {
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  #createClosedError(): RookeryError {
    return new RookeryError("session_closed", `session ${this.id} was closed or disposed`);
  }
}
