/**
 * The agent's side of a connection: validates requests, passes them to the handlers, and gives access to the client.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, type ConnectionOptions } from "../connection/connection.ts";
import type { IncomingNotification, IncomingRequest, Noise } from "../connection/incoming.ts";
import { methodNotFound } from "../errors.ts";
import { ACP_PROTOCOL_VERSION } from "../protocol-version.ts";
import type * as acp from "../schema.ts";
import { findAgentHandler, type AgentContext, type AgentHandlers } from "./handlers.ts";
import { validateAgentParams } from "./agent-params.ts";
import { ClientPeer } from "./client-peer.ts";
import { RunningPrompts } from "./running-prompts.ts";

export interface AgentOptions extends Omit<ConnectionOptions, "handlers" | "malformed" | "exit"> {
  /** Called once, before the first message is read. */
  readonly handlers: (client: ClientPeer) => AgentHandlers;
  readonly onNoise?: ((noise: Noise) => void) | undefined;
  /** Called if a notification handler throws; otherwise the error would be lost. */
  readonly onFailure?: ((error: unknown, method: string) => void) | undefined;
  /** How long cancelled turns may take to end before the connection closes without their answers. Default: 15 s. */
  readonly cancelMs?: number | undefined;
}

const CANCEL_MS = 15_000;

/** Serves one client until it disconnects or `close` is called. */
export function serveAgent(options: AgentOptions): AgentServer {
  return new AgentServer(options);
}

export class AgentServer implements AsyncDisposable {
  readonly connection: Connection;
  readonly client: ClientPeer;
  /** Resolves when the client has disconnected, its requests are answered, and nothing more will be sent. */
  readonly closed: Promise<void>;
  readonly #handlers: AgentHandlers;
  readonly #prompts = new RunningPrompts();
  readonly #cancelMs: number;
  #closing: Promise<void> | undefined;

  constructor(options: AgentOptions) {
    this.#cancelMs = options.cancelMs ?? CANCEL_MS;
    const { peer = "the client", transport, trace, readBytes, writeBytes } = options;
    this.connection = new Connection({
      transport,
      peer,
      trace,
      readBytes,
      writeBytes,
      malformed: "answer",
      handlers: {
        request: (request) => this.#request(request),
        notification: (notification) => this.#notification(notification),
        noise: (noise) => options.onNoise?.(noise),
        failed: (error, { method }) => options.onFailure?.(error, method),
      },
    });
    this.client = new ClientPeer(this.connection);
    this.#handlers = options.handlers(this.client);
    // After the end of input nobody can cancel a turn or answer its questions.
    void this.connection.inputEnded.then(() => this.close());
    this.closed = this.connection.closed;
  }

  /** Cancels and answers the running turns, then closes the connection. A second call waits for the first. */
  close(cause?: unknown): Promise<void> {
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(cause: unknown): Promise<void> {
    const ended = this.#prompts.cancelAll(new Error("the connection is being closed"));
    await Promise.race([ended, sleep(this.#cancelMs, undefined, { ref: false })]);
    await new Promise((resolve) => setImmediate(resolve)); // answers that were just decided go out first
    await this.connection.close(cause);
  }

  async #request(request: IncomingRequest): Promise<unknown> {
    const { method, signal } = request;
    const params = validateAgentParams(method, request.params);
    const context = { signal, respond: (result: unknown) => request.respond(result) };
    if (method === "initialize") return this.#initialize(params as acp.InitializeRequest, context);
    if (method === "session/prompt") return this.#prompt(params as acp.PromptRequest, request);
    const handler = findAgentHandler(this.#handlers, method);
    if (handler !== undefined) return handler(params, context);
    if (this.#handlers.request === undefined) throw methodNotFound(method);
    return this.#handlers.request(request, context);
  }

  async #initialize(params: acp.InitializeRequest, context: AgentContext) {
    this.client.recordInitialize(params);
    const introduction = await this.#handlers.initialize(params, context);
    return { ...introduction, protocolVersion: ACP_PROTOCOL_VERSION };
  }

  #prompt(params: acp.PromptRequest, request: IncomingRequest): Promise<unknown> {
    const respond = (result: unknown): void => request.respond(result);
    return this.#prompts.run(params.sessionId, request.signal, async (signal) =>
      this.#handlers.prompt(params, { signal, respond }),
    );
  }

  #notification(notification: IncomingNotification): void | Promise<void> {
    const { method } = notification;
    if (method !== "session/cancel") return this.#handlers.notification?.(notification);
    const params = validateAgentParams(method, notification.params) as acp.CancelNotification;
    this.#prompts.cancel(params.sessionId);
    return this.#handlers.cancel?.(params);
  }
}
