/**
 * Sits between a client and an agent: can add MCP servers and change prompts, and passes everything else on unchanged.
 */
import { getSessionId } from "../client/routing/request-params.ts";
import type { SessionOptions } from "../client/session.ts";
import { Verbatim, type IncomingNotification, type IncomingRequest, type Noise } from "../connection/incoming.ts";
import { invalidParams, PeerNotReading } from "../errors.ts";
import { injectServers, isMcpMethod, McpOverAcp, SESSION_SETUP_METHODS } from "../mcp/index.ts";
import type { InProcessServer, McpDeclaration, McpDialect } from "../mcp/index.ts";
import type * as acp from "../schema.ts";
import { isJsonObject } from "../wire/json-object.ts";
import type { ProxyDialect } from "./proxy-dialect.ts";
import { HeldSessions, type HeldSession } from "./held-sessions.ts";
import { componentLink, directLink, type ProxyLinkHandlers, type LinkOptions, type ProxyLink } from "./proxy-link.ts";
import { withParams } from "./passed-message.ts";
import { SessionOffers } from "./session-offers.ts";
import type { Port } from "./port.ts";
import { passThrough, relay, type ProxiedRequest, type ProxyHandler } from "./relay.ts";

export interface ProxyOptions {
  /** Added to every session that is set up through the proxy, in a form that the agent supports. */
  readonly mcpServers?: readonly (McpDeclaration | InProcessServer)[] | undefined;
  /** Changes prompts on their way to the agent. */
  readonly prompt?: ((request: acp.PromptRequest) => acp.PromptRequest | Promise<acp.PromptRequest>) | undefined;
  /** Handles the client's requests of these methods. */
  readonly fromClient?: Readonly<Record<string, ClientRequestHandler>> | undefined;
  /** Handles the agent's requests of these methods. */
  readonly fromAgent?: Readonly<Record<string, ProxyHandler>> | undefined;
  /** How servers in this process are declared to an agent that supports MCP over ACP. Default: `official`. */
  readonly mcpDialect?: McpDialect | undefined;
  /** The command of the program that bridges stdio to a server in this process. Default: the one of this package. */
  readonly bridge?: readonly string[] | undefined;
  /** Called for output of the agent that is not a message, such as a log line. */
  readonly onNoise?: ((noise: Noise) => void) | undefined;
}

export interface ClientRequest extends ProxiedRequest {
  /**
   * For a request that sets a session up: the proxy drives the session itself until it hands it over. If the handler
   * fails before that, the session is discarded.
   */
  startSession(options?: SessionOptions): Promise<HeldSession>;
  /**
   * For such a request: sets the session up and hands it over at once. Resolves with the session's id when the client
   * has its answer.
   */
  startProxy(): Promise<string | undefined>;
}

export type ClientRequestHandler = (request: ClientRequest) => unknown;

/** What the proxy itself does with a request. */
type OwnHandler = (request: ProxiedRequest) => Promise<Verbatim>;

/** Opens a proxy between two transports. */
export function openProxy(client: LinkOptions, agent: LinkOptions, options: ProxyOptions = {}): Proxy {
  return new Proxy(options, (handlers) => directLink(client, agent, handlers));
}

/** Opens a proxy as a component of a conductor's chain, on one transport to the conductor. */
export function openProxyComponent(
  conductor: LinkOptions,
  options: ProxyOptions & { readonly dialect?: ProxyDialect } = {},
): Proxy {
  return new Proxy(options, (handlers) => componentLink(conductor, handlers, options.dialect));
}

export class Proxy implements AsyncDisposable {
  /** Resolves when both sides are closed and everything that was opened for them is closed. Never rejects. */
  readonly closed: Promise<void>;
  readonly #options: ProxyOptions;
  readonly #link: ProxyLink;
  readonly #held: HeldSessions;
  readonly #overAcp: McpOverAcp;
  readonly #offers: SessionOffers;
  readonly #released: Promise<void>;

  /** Use `openProxy` or `openProxyComponent`. */
  constructor(options: ProxyOptions, connect: (handlers: ProxyLinkHandlers) => ProxyLink) {
    const { mcpDialect, bridge, onNoise } = options;
    this.#options = options;
    const failed = (error: unknown): void => {
      if (error instanceof PeerNotReading) void this.#link.close(error); // otherwise it is gone and closed anyway
    };
    this.#link = connect({
      fromClient: {
        request: (request) => this.#fromClient(request),
        notification: (notification) => this.#link.agent.passOn(notification),
        failed,
      },
      fromAgent: {
        request: (request) => this.#fromAgent(request),
        notification: (notification) => this.#notifiedByAgent(notification),
        noise: (noise) => onNoise?.(noise),
        failed,
      },
    });
    this.#held = new HeldSessions(this.#link);
    this.#overAcp = new McpOverAcp(this.#link.agent, { dialect: mcpDialect });
    this.#offers = new SessionOffers({ overAcp: this.#overAcp, bridge });
    this.#released = this.#link.closed.then(() => this.#offers[Symbol.asyncDispose]());
    this.closed = this.#released.catch(() => undefined); // `close` reports the error
  }

  get client(): Port {
    return this.#link.client;
  }

  get agent(): Port {
    return this.#link.agent;
  }

  /** Rejects if a server that was opened for a session could not be closed. A second call waits for the first. */
  async close(cause?: unknown): Promise<void> {
    await this.#link.close(cause);
    await this.#released;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #fromClient(came: IncomingRequest): unknown {
    const request = this.#markSessions(came);
    const agent = this.#createAgentPort(request);
    const own = this.#findOwnHandler(request.method);
    const theirs = this.#options.fromClient?.[request.method];
    if (theirs !== undefined) return relay(request, agent, (proxied) => this.#runHandler(proxied, theirs, own));
    return own === undefined ? passThrough(request, agent) : relay(request, agent, own);
  }

  /** Marks the sessions that the client knows: their messages belong to the client, even if the proxy sets up another one. */
  #markSessions(request: IncomingRequest): IncomingRequest {
    this.#held.markClientSession(getSessionId(request.params));
    if (!SESSION_SETUP_METHODS.has(request.method)) return request;
    const respond = (value: unknown): void => {
      this.#held.markClientSession(getSessionId(value instanceof Verbatim ? value.result : value));
      request.respond(value);
    };
    return { ...request, respond };
  }

  /** A session whose setup is forwarded belongs to the client from the moment the agent names it. */
  #createAgentPort(request: IncomingRequest): Port {
    const { agent } = this.#link;
    if (!SESSION_SETUP_METHODS.has(request.method)) return agent;
    const forward: Port["forward"] = (message, { onResponse, ...options } = {}) =>
      agent.forward(message, {
        ...options,
        onResponse: (response) => {
          if (response.error === undefined) this.#held.markClientSession(getSetupSessionId(request, response));
          return onResponse?.(response);
        },
      });
    return { ...agent, forward };
  }

  /** Runs the user's handler on top of what the proxy itself does. */
  async #runHandler(request: ProxiedRequest, theirs: ClientRequestHandler, own?: OwnHandler): Promise<unknown> {
    const held: HeldSession[] = [];
    const forward = (params: unknown = request.params): Promise<Verbatim> => {
      if (own === undefined) return request.forward(params);
      const onwards = (next: unknown = params): Promise<Verbatim> => request.forward(next);
      return own({ ...withParams(request, params), forward: onwards });
    };
    try {
      return await theirs({
        ...request,
        forward,
        startSession: async (options) => {
          const session = await this.#startSession(request, options);
          held.push(session);
          return session;
        },
        startProxy: async () => {
          const response = await forward();
          request.respond(response);
          return getSetupSessionId(request, response);
        },
      });
    } catch (error) {
      for (const session of held) await this.#held.giveUp(session);
      throw error;
    }
  }

  #findOwnHandler(method: string): OwnHandler | undefined {
    const { prompt, mcpServers = [] } = this.#options;
    if (method === "session/prompt" && prompt !== undefined) {
      return async (request) => request.forward(await prompt(request.params as acp.PromptRequest));
    }
    if (mcpServers.length === 0) return undefined;
    if (method === "initialize") return (request) => this.#initialize(request);
    if (SESSION_SETUP_METHODS.has(method)) return (request) => this.#setUp(request);
    if (method === "session/close" || method === "session/delete") return (request) => this.#endSession(request);
    return undefined;
  }

  async #initialize(request: ProxiedRequest): Promise<Verbatim> {
    const response = await request.forward();
    this.#offers.recordInitialize(response.result);
    return response;
  }

  #setUp(request: ProxiedRequest): Promise<Verbatim> {
    return this.#setUpWithServers(request, async (params) => {
      const value = await request.forward(params);
      return { value, sessionId: value.error === undefined ? getSetupSessionId(request, value) : undefined };
    });
  }

  async #endSession(request: ProxiedRequest): Promise<Verbatim> {
    const response = await request.forward();
    const sessionId = getSessionId(request.params);
    if (sessionId !== undefined && response.error === undefined) this.#offers.closeServers(sessionId);
    return response;
  }

  #startSession(request: ProxiedRequest, options: SessionOptions = {}): Promise<HeldSession> {
    return this.#setUpWithServers(request, async (params) => {
      if (!isJsonObject(params)) throw invalidParams(`the params of ${request.method} must be an object`);
      const starting = this.#held.start({ request, params, options, left: ({ id }) => this.#offers.closeServers(id) });
      request.goOn(); // the client's answers to questions of the session come after it
      const value = await starting;
      return { value, sessionId: value.session.id };
    });
  }

  /** Sets a session up with the proxy's servers added to its params. */
  #setUpWithServers<T>(
    { params }: ProxiedRequest,
    send: (params: unknown) => Promise<{ readonly value: T; readonly sessionId: string | undefined }>,
  ): Promise<T> {
    const { mcpServers = [] } = this.#options;
    return this.#offers.offerAndSend(mcpServers, (declarations) =>
      send(declarations.length === 0 ? params : injectServers(params, declarations)),
    );
  }

  #fromAgent(request: IncomingRequest): unknown {
    if (this.#isForOwnServer(request)) return this.#overAcp.request(request);
    const held = this.#held.request(request);
    if (held !== undefined) return held;
    const handler = this.#options.fromAgent?.[request.method];
    const { client } = this.#link;
    return handler === undefined ? passThrough(request, client) : relay(request, client, handler);
  }

  #notifiedByAgent(notification: IncomingNotification): void | Promise<void> {
    if (this.#isForOwnServer(notification)) return this.#overAcp.notification(notification);
    const held = this.#held.notification(notification);
    return held === undefined ? this.#link.client.passOn(notification) : held.room;
  }

  /** True if the message is for one of the proxy's own servers. */
  #isForOwnServer(message: IncomingNotification): boolean {
    return isMcpMethod(message.method) && this.#overAcp.handles(message); // does not parse the params of other messages
  }
}

/** The session that the request has set up. */
function getSetupSessionId(request: IncomingRequest, { result }: Verbatim): string | undefined {
  return getSessionId(result) ?? getSessionId(request.params);
}
