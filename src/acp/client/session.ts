/** A session with an agent: its updates and its requests, one prompt at a time, and a cancel that hits no other. */
import { RookeryError } from "../../domain/errors.ts";
import { deferred } from "../../stdx/index.ts";
import type { RequestOptions } from "../connection/connection.ts";
import type { IncomingNotification, IncomingRequest, Verbatim } from "../connection/incoming.ts";
import { PeerError, peerError, RPC } from "../errors.ts";
import type * as acp from "../schema.ts";
import { CANCELLED_ELICITATION, CANCELLED_PERMISSION, serve, type SessionHandlers } from "./handlers.ts";
import { Items, type RequestItem, type SessionItem, type UpdateItem, type When } from "./items.ts";
import { openTurn, type ClientTurn } from "./turn.ts";

export interface SessionOptions extends SessionHandlers {
  /** Takes each update as it comes, in the place of a reader; the agent waits while it is not done. */
  update?(item: UpdateItem): void | Promise<void>;
  /** A request that no handler takes is refused, or is an item for the reader to answer. */
  readonly unhandled?: "refuse" | "read" | undefined;
}

/** The way to the agent: a connection, or what a proxy has instead of one. */
export interface SessionLink {
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result>;
  notify(method: string, params?: unknown): Promise<void>;
}

export interface SessionParts {
  readonly connection: SessionLink;
  readonly id: string;
  readonly options: SessionOptions;
  /** Called once the session is left: nothing is routed to it any more. */
  readonly leave: (session: ClientSession) => Promise<void>;
}

interface Running {
  cancelled: boolean;
  /** Of this turn; what comes of them after a cancel is late. */
  readonly tools: Set<string>;
  /** Permissions and questions that a cancel answers. */
  readonly asked: Set<() => void>;
}

const PROMPT = "session/prompt";

export class ClientSession implements AsyncDisposable {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #items = new Items();
  /** The tools of the turn that was cancelled last. */
  #fenced: ReadonlySet<string> = new Set();
  #setUp: Verbatim | undefined;
  #loading = false;
  #running: Running | undefined;
  #last: Promise<void> | undefined;
  #left = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.id;
  }

  /** The agent's answer to what started the session, as it came. */
  get response(): acp.NewSessionResponse {
    return { sessionId: this.id, ...(this.#setUp?.result as Partial<acp.NewSessionResponse> | null | undefined) };
  }

  get setUp(): Verbatim | undefined {
    return this.#setUp;
  }

  get connection(): SessionLink {
    return this.#parts.connection;
  }

  get isLeft(): boolean {
    return this.#left;
  }

  /** Updates from outside of any turn that were not read and did not fit. */
  get dropped(): number {
    return this.#items.dropped;
  }

  /** What comes before the set-up's response is history. */
  loading(): void {
    this.#loading = true;
  }

  started(setUp: Verbatim): void {
    this.#setUp = setUp;
    this.#loading = false;
  }

  /** Starts a turn. Throws `turn_in_progress` or `session_closed`. */
  prompt(
    prompt: string | acp.ContentBlock | readonly acp.ContentBlock[],
    options: { signal?: AbortSignal } = {},
  ): ClientTurn {
    this.#refuseIfLeft();
    if (this.#running !== undefined) {
      throw new RookeryError(
        "turn_in_progress",
        `session ${this.id} has a turn that has not ended: wait for it, or cancel it`,
      );
    }
    const running: Running = { cancelled: false, tools: new Set(), asked: new Set() };
    this.#running = running;
    const cancel = (): Promise<void> => this.#cancel(running);
    const ended = deferred();
    this.#last = ended.promise;
    const end = (): void => {
      options.signal?.removeEventListener("abort", onAbort);
      if (running.cancelled) this.#fenced = running.tools;
      this.#running = undefined;
      ended.resolve();
    };
    const onAbort = (): void => void cancel().catch(() => undefined); // a broken connection fails the turn itself
    const response = this.#parts.connection
      .request<acp.PromptResponse>(
        PROMPT,
        { sessionId: this.id, prompt: blocks(prompt) },
        {
          onResponse: ({ result, error }) => {
            end();
            if (error !== undefined) this.#items.fail(new PeerError(error));
            else void this.#items.push({ kind: "stop", response: result as acp.PromptResponse }, false);
          },
        },
      )
      .catch((error: unknown) => {
        if (this.#running === running) {
          end();
          this.#items.fail(error instanceof Error ? error : new Error(String(error)));
        }
        throw error;
      });
    if (options.signal?.aborted === true) onAbort();
    options.signal?.addEventListener("abort", onAbort, { once: true });
    return openTurn({ response, next: () => this.#items.next(), cancel });
  }

  /** Asks the agent to stop the turn that runs, if one does, and answers what it asks with `cancelled`. */
  async cancel(): Promise<void> {
    if (this.#running !== undefined) await this.#cancel(this.#running);
  }

  /** Resolves when no turn runs. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** The next item, in a turn or outside of one; for those who do not iterate over a turn. */
  next(): Promise<SessionItem> {
    return this.#items.next();
  }

  /** What has come and was not read. */
  take(): SessionItem[] {
    return this.#items.take();
  }

  setMode(modeId: string): Promise<acp.SetSessionModeResponse> {
    return this.#request("session/set_mode", { sessionId: this.id, modeId });
  }

  setConfigOption(configId: string, value: string | boolean): Promise<acp.SetSessionConfigOptionResponse> {
    const typed = typeof value === "boolean" ? { type: "boolean", value } : { value };
    return this.#request("session/set_config_option", { sessionId: this.id, configId, ...typed });
  }

  /** Agents in the field still take it, though the protocol has config options now. */
  setModel(modelId: string): Promise<unknown> {
    return this.#request("session/set_model", { sessionId: this.id, modelId });
  }

  /** Ends it on the agent's side, which cancels what runs, and leaves it. */
  async close(): Promise<void> {
    this.#refuseIfLeft();
    try {
      await this.#request("session/close", { sessionId: this.id });
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  /** Leaves it: nothing more is routed here. The agent keeps it, and a turn that runs is cancelled. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    await this.cancel().catch(() => undefined); // the connection may be gone, and the turn with it
    await this.#parts.leave(this);
  }

  /** Of the connection: a `session/update`. */
  onUpdate({ params, line }: IncomingNotification): void | Promise<void> {
    const notification = params as acp.SessionNotification;
    const { update } = notification;
    const item: UpdateItem = { kind: "update", when: this.#when(update), update, notification, line };
    const { options } = this.#parts;
    return options.update === undefined ? this.#items.push(item, item.when === "turn") : options.update(item);
  }

  /** Of the connection: a request that names this session. */
  async onRequest(request: IncomingRequest): Promise<unknown> {
    const cancelled = cancelledAnswer(request.method);
    const running = this.#running;
    if (cancelled === undefined || running === undefined) return this.#serve(request, request.signal);
    if (running.cancelled) return cancelled;
    const controller = new AbortController();
    const signal = AbortSignal.any([request.signal, controller.signal]);
    const stopped = deferred<unknown>();
    const stop = (): void => {
      stopped.resolve(cancelled);
      controller.abort();
    };
    running.asked.add(stop);
    const served = this.#serve(request, signal);
    try {
      return await Promise.race([served, stopped.promise]);
    } finally {
      running.asked.delete(stop);
      served.catch(() => undefined); // where the cancel was first, nobody waits for it
    }
  }

  /** Of the connection: nothing more will come. */
  onOver(error: Error): void {
    this.#items.fail(error);
  }

  async #serve(request: IncomingRequest, signal: AbortSignal): Promise<unknown> {
    const { options } = this.#parts;
    try {
      return await serve(options, request, { sessionId: this.id, signal });
    } catch (error) {
      const unhandled = error instanceof PeerError && error.code === RPC.methodNotFound;
      if (!unhandled || options.unhandled !== "read") throw error;
    }
    const answer = deferred<unknown>();
    const item: RequestItem = {
      kind: "request",
      request,
      respond: (result) => answer.resolve(result),
      fail: (error) => answer.reject(error),
    };
    void this.#items.push(item, false);
    signal.addEventListener("abort", () => answer.reject(peerError(RPC.cancelled, "cancelled")), { once: true });
    return answer.promise;
  }

  async #cancel(running: Running): Promise<void> {
    if (running.cancelled || this.#running !== running) return;
    running.cancelled = true;
    const told = this.#parts.connection.notify("session/cancel", { sessionId: this.id });
    for (const stop of running.asked) stop();
    await told;
  }

  #when(update: acp.SessionUpdate): When {
    if (this.#loading) return "replay";
    if (this.#running === undefined) return "between";
    const tool = toolOf(update);
    if (tool === undefined) return "turn";
    if (this.#fenced.has(tool)) return "between";
    this.#running.tools.add(tool);
    return "turn";
  }

  #request<Result>(method: string, params: object): Promise<Result> {
    this.#refuseIfLeft();
    return this.#parts.connection.request<Result>(method, params);
  }

  #refuseIfLeft(): void {
    if (this.#left) throw new RookeryError("session_closed", `session ${this.id} was closed or left`);
  }
}

/** What a client must answer when it cancels the turn. */
function cancelledAnswer(method: string): unknown {
  if (method === "session/request_permission") return CANCELLED_PERMISSION;
  return method === "elicitation/create" ? CANCELLED_ELICITATION : undefined;
}

function toolOf(update: acp.SessionUpdate | null | undefined): string | undefined {
  const id = (update as { toolCallId?: unknown } | null | undefined)?.toolCallId;
  return typeof id === "string" ? id : undefined;
}

function blocks(prompt: string | acp.ContentBlock | readonly acp.ContentBlock[]): readonly acp.ContentBlock[] {
  if (typeof prompt === "string") return [{ type: "text", text: prompt }];
  return "type" in prompt ? [prompt] : prompt;
}
