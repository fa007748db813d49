/**
 * Sits between a client and an agent: can add MCP servers, change requests and notifications, and drive sessions of its
 * own. Passes everything else on unchanged.
 */
import { getSessionId } from "../client/routing/request-params.ts";
import { CLIENT_SETUPS, SetupQueue } from "../client/routing/setup-queue.ts";
import { SessionBuilder, type SessionRequest } from "../client/session-builder.ts";
import type { RequestItem } from "../client/session-items.ts";
import type { SessionLink, SessionOptions } from "../client/session.ts";
import { currentDirectory, sessionInUse, type AttachOptions } from "../client/attach.ts";
import { Verbatim, type IncomingNotification, type IncomingRequest } from "../connection/incoming.ts";
import { notFound, PeerNotReading, requestCancelled } from "../errors.ts";
import { injectServers, isMcpMethod, McpOverAcp, SESSION_SETUP_METHODS } from "../mcp/index.ts";
import type * as acp from "../schema.ts";
import { Direction, findHandler } from "./direction.ts";
import type { ProxyDialect } from "./proxy-dialect.ts";
import { HeldSessions, type HeldSession } from "./held-sessions.ts";
import { OwnSessions } from "./own-sessions.ts";
import { componentLink, directLink, type ProxyLinkHandlers, type LinkOptions, type ProxyLink } from "./proxy-link.ts";
import { resolveChanges, type ClientRequestHandler, type ProxyOptions, type ResolvedChanges } from "./proxy-options.ts";
import { withParams } from "./passed-message.ts";
import { SessionOffers } from "./session-offers.ts";
import type { Port } from "./port.ts";
import { passThrough, relay, type ProxiedRequest, type RelayContext } from "./relay.ts";
import type { Lane } from "./session-lanes.ts";

/** What the proxy itself does with a request. */
type OwnHandler = (request: ProxiedRequest) => Promise<Verbatim>;

const NOTIFICATION_TIMEOUT_MS = 30_000;

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

/**
 * Messages of one session keep their order; a slow handler delays only its own session. A response that announces a
 * session is sent before everything that follows it.
 */
export class Proxy implements AsyncDisposable {
  /** Resolves when both sides are closed and everything that was opened for them is closed. Never rejects. */
  readonly closed: Promise<void>;
  readonly #options: ProxyOptions;
  readonly #link: ProxyLink;
  readonly #toAgent: Direction;
  readonly #toClient: Direction;
  readonly #setups = new SetupQueue();
  readonly #held: HeldSessions;
  readonly #own: OwnSessions;
  readonly #overAcp: McpOverAcp;
  readonly #offers: SessionOffers;
  readonly #released: Promise<void>;

  /** Use `openProxy` or `openProxyComponent`. */
  constructor(options: ProxyOptions, connect: (handlers: ProxyLinkHandlers) => ProxyLink) {
    const { mcpDialect, bridge, onNoise, onError = warn } = options;
    this.#options = options;
    const failed = (error: unknown): void => {
      if (error instanceof PeerNotReading) void this.#link.close(error); // otherwise it is gone and closed anyway
    };
    const timeoutMs = options.notificationTimeoutMs ?? NOTIFICATION_TIMEOUT_MS;
    const shared = { timeoutMs, handlerFailed: onError, sendFailed: failed };
    this.#toAgent = new Direction({ ...shared, to: () => this.#link.agent, handlers: options.clientNotifications });
    this.#toClient = new Direction({ ...shared, to: () => this.#link.client, handlers: options.agentNotifications });
    this.#link = connect({
      fromClient: {
        request: (request) => this.#fromClient(request),
        notification: (notification) => this.#notifiedByClient(notification),
        failed,
      },
      fromAgent: {
        request: (request) => this.#fromAgent(request),
        notification: (notification) => this.#notifiedByAgent(notification),
        noise: (noise) => onNoise?.(noise),
        failed,
      },
    });
    this.#overAcp = new McpOverAcp(this.#link.agent, { dialect: mcpDialect });
    this.#offers = new SessionOffers({ overAcp: this.#overAcp, bridge });
    const agent = this.#createSessionLink();
    const { agentGone } = this.#link;
    this.#held = new HeldSessions({
      agent,
      agentGone,
      setups: this.#setups,
      client: {
        notification: (notification) => this.#toClient.notification(notification),
        request: (item) => this.#passItemOn(item),
        answer: (sessionId, give) => this.#toClient.inOrder(sessionId, give),
      },
    });
    this.#own = new OwnSessions({
      agent,
      agentGone,
      setups: this.#setups,
      offers: this.#offers,
      isOfClient: (sessionId) => this.#held.knows(sessionId),
      passOn: (notification) => void this.#toClient.notification(notification),
    });
    this.#released = this.#link.closed.then(() => this.#offers[Symbol.asyncDispose]());
    this.closed = this.#released.catch(() => undefined); // `close` reports the error
  }

  get client(): Port {
    return this.#link.client;
  }

  get agent(): Port {
    return this.#link.agent;
  }

  /**
   * Returns a builder for a session of the proxy's own, once the client has initialized the agent. Default: the current
   * directory. Its updates and requests do not reach the client, and the client cannot use it. While its setup is
   * pending, new sessions of the client wait, and the other way round.
   */
  session(where: string | SessionRequest = currentDirectory()): SessionBuilder {
    const request = typeof where === "string" ? { cwd: where } : where;
    return new SessionBuilder(request, {}, (start) => this.#own.start(start));
  }

  /**
   * Holds a session that exists, such as one that a handler forwarded: the proxy gets its messages until it hands them
   * to the client. Throws `input_invalid` if the response has no session id, and `session_in_use` if the proxy already
   * drives the session.
   */
  attach(options: AttachOptions): HeldSession {
    const sessionId = getSessionId(options.response);
    if (sessionId !== undefined && this.#own.has(sessionId)) throw sessionInUse(sessionId);
    const held = this.#held.attach(options);
    this.#toClient.flush(held.session.id);
    return held;
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
    const theirs = findHandler(this.#options.fromClient, request.method);
    const order = this.#toClient.orderAnswers((response) => findAnswerLane(request, response));
    return this.#toAgent.request(request, findRequestLane(request), () => {
      if (theirs !== undefined)
        return relay(request, agent, (proxied) => this.#runHandler(proxied, theirs, own), order);
      return own === undefined ? passThrough(request, agent, order) : relay(request, agent, own, order);
    });
  }

  /** Marks the sessions that the client knows: their messages belong to the client, even if the proxy sets up another one. */
  #markSessions(request: IncomingRequest): IncomingRequest {
    const sessionId = getSessionId(request.params);
    if (sessionId !== undefined && this.#own.has(sessionId)) throw notFound(`session ${sessionId}`);
    this.#markClientSession(sessionId);
    if (!SESSION_SETUP_METHODS.has(request.method)) return request;
    const respond = (value: unknown): void => {
      this.#markClientSession(getSessionId(value instanceof Verbatim ? value.result : value));
      request.respond(value);
    };
    return { ...request, respond };
  }

  #markClientSession(sessionId: string | undefined): void {
    if (sessionId !== undefined) this.#own.recall(sessionId);
    this.#held.markClientSession(sessionId);
  }

  /** Observes the answers of requests that start or end something of the proxy. */
  #createAgentPort(request: IncomingRequest): Port {
    const { agent } = this.#link;
    const observe = this.#findObserver(request);
    if (observe === undefined) return agent;
    const forward: Port["forward"] = (message, { onResponse, ...options } = {}) => {
      const send = (leave?: () => void): Promise<Verbatim> =>
        agent.forward(message, {
          ...options,
          onResponse: (response) => {
            if (response.error === undefined) observe(response);
            leave?.();
            return onResponse?.(response);
          },
        });
      return isUnnamedSetup(request) ? this.#sendUnnamed(request, send) : send();
    };
    return { ...agent, forward };
  }

  #findObserver(request: IncomingRequest): ((response: Verbatim) => void) | undefined {
    const { method, params } = request;
    if (method === "initialize") return ({ result }) => this.#offers.recordInitialize(result);
    if (method === "session/close" || method === "session/delete") return () => this.#closeServers(params);
    if (!SESSION_SETUP_METHODS.has(method)) return undefined;
    // The session belongs to the client from the moment the agent names it. It lost the servers of an earlier setup.
    return (response) => {
      const sessionId = getSetupSessionId(request, response);
      this.#markClientSession(sessionId);
      this.#closeServers({ sessionId });
    };
  }

  /** A session that the agent names is not set up together with one of the proxy's own. */
  #sendUnnamed(request: IncomingRequest, send: (leave: () => void) => Promise<Verbatim>): Promise<Verbatim> {
    return new Promise((resolve, reject) => {
      this.#setups.enter(CLIENT_SETUPS, (leave) => {
        const sent = request.signal.aborted ? Promise.reject(requestCancelled()) : send(leave);
        sent.finally(leave).then(resolve, reject);
      });
    });
  }

  /** Runs the user's handler on top of what the proxy itself does. */
  async #runHandler(request: RelayContext, theirs: ClientRequestHandler, own?: OwnHandler): Promise<unknown> {
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
        startSession: async ({ params, mcpServers, ...options } = {}) => {
          const changes = resolveChanges(request, { params, mcpServers });
          const session = await request.track(this.#startSession(request, changes, options));
          held.push(session);
          return session;
        },
        startProxy: async (changes = {}) => {
          const response = await this.#setUp(request, resolveChanges(request, changes));
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
    if (mcpServers.length === 0 || !SESSION_SETUP_METHODS.has(method)) return undefined;
    return (request) => this.#setUp(request, { params: request.params, servers: [] });
  }

  /** Sets a session up for the client, with the proxy's servers and these. */
  #setUp(request: ProxiedRequest, changes: ResolvedChanges): Promise<Verbatim> {
    return this.#setUpWithServers(changes, async (params) => {
      const value = await request.forward(params);
      return { value, sessionId: value.error === undefined ? getSetupSessionId(request, value) : undefined };
    });
  }

  #startSession(request: RelayContext, changes: ResolvedChanges, options: SessionOptions): Promise<HeldSession> {
    return this.#setUpWithServers(changes, async (params) => {
      const starting = this.#held.start({
        request,
        params: params as Readonly<Record<string, unknown>>,
        options,
        left: ({ id }) => this.#offers.closeServers(id),
      });
      request.goOn(); // the client's answers to questions of the session come after it
      const value = await starting;
      return { value, sessionId: value.session.id };
    });
  }

  #setUpWithServers<T>(
    { params, servers }: ResolvedChanges,
    send: (params: unknown) => Promise<{ readonly value: T; readonly sessionId: string | undefined }>,
  ): Promise<T> {
    return this.#offers.offerAndSend([...(this.#options.mcpServers ?? []), ...servers], (declarations) =>
      send(declarations.length === 0 ? params : injectServers(params, declarations)),
    );
  }

  #fromAgent(request: IncomingRequest): unknown {
    if (this.#isForOwnServer(request)) return this.#overAcp.request(request);
    return this.#own.request(request) ?? this.#held.request(request) ?? this.#askClient(request);
  }

  #askClient(request: IncomingRequest): unknown {
    const { client } = this.#link;
    const sessionId = getSessionId(request.params);
    const handler = findHandler(this.#options.fromAgent, request.method);
    const order = this.#toAgent.orderAnswers(() => sessionId);
    return this.#toClient.request(request, sessionId, (isFlushed) => {
      const held = isFlushed ? this.#held.request(request) : undefined; // the proxy has just attached to the session
      if (held !== undefined) return { sent: undefined, done: held };
      return handler === undefined ? passThrough(request, client, order) : relay(request, client, handler, order);
    });
  }

  /** Asks the client what the proxy did not answer before it handed the session over. */
  #passItemOn(item: RequestItem): void {
    const respond = (result: unknown): void => item.respond(result);
    const fail = (error: unknown): void => item.fail(error);
    const asked = { ...item.request, signal: item.signal, respond, fail, hold: () => undefined };
    Promise.resolve(this.#askClient(asked)).then(respond, fail);
  }

  #notifiedByClient(notification: IncomingNotification): void | Promise<void> {
    const sessionId = getSessionId(notification.params);
    if (sessionId !== undefined && this.#own.has(sessionId)) return undefined;
    return this.#toAgent.notification(notification);
  }

  #notifiedByAgent(notification: IncomingNotification): void | Promise<void> {
    if (this.#isForOwnServer(notification)) return this.#overAcp.notification(notification);
    const taken = this.#own.notification(notification) ?? this.#held.notification(notification);
    if (taken !== undefined) return taken.room;
    return this.#toClient.notification(notification, () => this.#held.notification(notification) !== undefined);
  }

  /** True if the message is for one of the proxy's own servers. */
  #isForOwnServer(message: IncomingNotification): boolean {
    return isMcpMethod(message.method) && this.#overAcp.handles(message); // does not parse the params of other messages
  }

  /** For the sessions that the proxy drives: closing one closes its servers. */
  #createSessionLink(): SessionLink {
    return {
      notify: (method, params) => this.#link.agent.notify(method, params),
      request: async (method, params, options) => {
        const result = await this.#link.agent.request<never>(method, params, options);
        if (method === "session/close" || method === "session/delete") this.#closeServers(params);
        return result;
      },
    };
  }

  #closeServers(params: unknown): void {
    const sessionId = getSessionId(params);
    if (sessionId !== undefined) this.#offers.closeServers(sessionId);
  }
}

/** A request that creates a session: only the answer tells its id. */
function isUnnamedSetup({ method }: IncomingRequest): boolean {
  return method === "session/new" || method === "session/fork";
}

/** Nothing can follow a new session before its answer, so its request blocks nothing. */
function findRequestLane({ method, params }: IncomingRequest): Lane {
  return method === "session/new" ? Symbol(method) : getSessionId(params);
}

function findAnswerLane(request: IncomingRequest, response: Verbatim): Lane {
  if (!SESSION_SETUP_METHODS.has(request.method)) return getSessionId(request.params);
  return getSetupSessionId(request, response) ?? Symbol(request.method); // a refusal concerns no other message
}

/** The session that the request has set up. */
function getSetupSessionId(request: IncomingRequest, { result }: Verbatim): string | undefined {
  return getSessionId(result) ?? getSessionId(request.params);
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
