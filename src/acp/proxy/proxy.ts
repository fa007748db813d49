/** Stands between a client and an agent: adds MCP servers and changes prompts if told to, and passes everything else as it came. */
import type { IncomingNotification, IncomingRequest, Verbatim } from "../connection/incoming.ts";
import { sessionIdOf } from "../client/handlers.ts";
import { injectServers, McpOverAcp, offerServers, SESSION_SETUP_METHODS } from "../mcp/index.ts";
import type { InProcessServer, McpDeclaration, McpDialect, McpSupport, Offer } from "../mcp/index.ts";
import type * as acp from "../schema.ts";
import type { ProxyDialect } from "./dialect.ts";
import { HeldSessions, type HeldSession } from "./held.ts";
import { componentLink, directLink, type LinkHandlers, type LinkOptions, type ProxyLink } from "./link.ts";
import { withParams } from "./message.ts";
import { passThrough, relay, type ProxiedRequest, type ProxyHandler } from "./relay.ts";
import type { SessionOptions } from "../client/session.ts";

export interface ProxyOptions {
  /** Given to every session that is set up through the proxy, in a form that the agent takes. */
  readonly mcpServers?: readonly (McpDeclaration | InProcessServer)[] | undefined;
  /** Changes a prompt on its way. */
  readonly prompt?: ((request: acp.PromptRequest) => acp.PromptRequest | Promise<acp.PromptRequest>) | undefined;
  /** Stands in for the client's requests of these methods. */
  readonly fromClient?: Readonly<Record<string, ClientRequestHandler>> | undefined;
  /** Stands in for the agent's requests of these methods. */
  readonly fromAgent?: Readonly<Record<string, ProxyHandler>> | undefined;
  /** How servers of this process are declared where the agent takes them over ACP. */
  readonly mcpDialect?: McpDialect | undefined;
  /** The command of the program that bridges stdio to a server of this process. */
  readonly bridge?: readonly string[] | undefined;
}

export interface ClientRequest extends ProxiedRequest {
  /** Of a request that sets a session up: the proxy holds the session itself, until it hands it over. */
  startSession(options?: SessionOptions): Promise<HeldSession>;
  /** Of the same: sets it up and hands it over at once. Resolves with the session's id when the client has its answer. */
  startProxy(): Promise<string | undefined>;
}

export type ClientRequestHandler = (request: ClientRequest) => unknown;

/** Between two transports. */
export function openProxy(client: LinkOptions, agent: LinkOptions, options: ProxyOptions = {}): Proxy {
  return new Proxy(options, (handlers) => directLink(client, agent, handlers));
}

/** A component of a conductor's chain, on the one transport to the conductor. */
export function openProxyComponent(
  conductor: LinkOptions,
  options: ProxyOptions & { readonly dialect?: ProxyDialect } = {},
): Proxy {
  return new Proxy(options, (handlers) => componentLink(conductor, handlers, options.dialect));
}

export class Proxy implements AsyncDisposable {
  /** Resolves when both sides are gone and everything that was opened for them is closed. */
  readonly closed: Promise<void>;
  readonly #options: ProxyOptions;
  readonly #link: ProxyLink;
  readonly #held: HeldSessions;
  readonly #overAcp: McpOverAcp;
  /** What was opened for each session's servers. */
  readonly #offers = new Map<string, Offer[]>();
  readonly #opening = new Set<Offer>();
  #support: McpSupport | undefined;

  constructor(options: ProxyOptions, connect: (handlers: LinkHandlers) => ProxyLink) {
    this.#options = options;
    this.#link = connect({
      fromClient: {
        request: (request) => this.#fromClient(request),
        notification: (notification) => this.#link.agent.passOn(notification),
      },
      fromAgent: {
        request: (request) => this.#fromAgent(request),
        notification: (notification) => this.#notifiedByAgent(notification),
      },
    });
    this.#held = new HeldSessions(this.#link);
    this.#overAcp = new McpOverAcp(this.#link.agent, { dialect: options.mcpDialect });
    this.closed = this.#link.closed.then(() => this.#release());
  }

  get client() {
    return this.#link.client;
  }

  get agent() {
    return this.#link.agent;
  }

  async close(cause?: unknown): Promise<void> {
    await this.#link.close(cause);
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #fromClient(request: IncomingRequest): unknown {
    const { method } = request;
    const { agent } = this.#link;
    const handler = this.#handlerFor(method);
    if (handler === undefined) {
      const answer = passThrough(request, agent);
      return method === "session/close" || method === "session/delete" ? this.#ending(request, answer) : answer;
    }
    return relay(request, agent, handler);
  }

  /** What stands in for a request: the user's handler, on top of what the proxy itself does. */
  #handlerFor(method: string): ProxyHandler | undefined {
    const own = this.#ownHandler(method);
    const theirs = this.#options.fromClient?.[method];
    if (theirs === undefined) return own && ((request) => own(request));
    return (request) => {
      const forward = (params: unknown = request.params): Promise<Verbatim> => {
        const onwards = (next: unknown = params): Promise<Verbatim> => request.forward(next);
        return own === undefined ? onwards() : own({ ...withParams(request, params), forward: onwards });
      };
      const proxied: ClientRequest = {
        ...request,
        forward,
        startSession: (options) => this.#startSession(request, options),
        startProxy: async () => {
          const response = await forward();
          request.respond(response);
          return sessionIdOf(response.result) ?? sessionIdOf(request.params);
        },
      };
      return theirs(proxied);
    };
  }

  #ownHandler(method: string): ((request: ProxiedRequest) => Promise<Verbatim>) | undefined {
    const { prompt, mcpServers = [] } = this.#options;
    if (method === "initialize") return (request) => this.#initialize(request);
    if (method === "session/prompt" && prompt !== undefined) {
      return async (request) => request.forward(await prompt(request.params as acp.PromptRequest));
    }
    if (SESSION_SETUP_METHODS.has(method) && mcpServers.length > 0) return (request) => this.#setUp(request);
    return undefined;
  }

  async #initialize(request: ProxiedRequest): Promise<Verbatim> {
    const response = await request.forward();
    const { agentCapabilities } = (response.result ?? {}) as acp.InitializeResponse;
    this.#support = agentCapabilities?.mcpCapabilities;
    return response;
  }

  async #setUp(request: ProxiedRequest): Promise<Verbatim> {
    const offer = await this.#offer();
    const response = await request
      .forward(injectServers(request.params, offer.mcpServers))
      .catch(async (error: unknown) => {
        await this.#withdraw(offer);
        throw error;
      });
    const sessionId = sessionIdOf(response.result) ?? sessionIdOf(request.params);
    if (response.error !== undefined || sessionId === undefined) await this.#withdraw(offer);
    else this.#keep(sessionId, offer);
    return response;
  }

  async #startSession(request: ProxiedRequest, options: SessionOptions = {}): Promise<HeldSession> {
    const offer = await this.#offer();
    try {
      const params = injectServers(request.params, offer.mcpServers) as Record<string, unknown>;
      const starting = this.#held.start(request, params, options);
      request.goOn(); // the client's answers to what the session asks come after it
      const held = await starting;
      this.#keep(held.session.id, offer);
      return held;
    } catch (error) {
      await this.#withdraw(offer);
      throw error;
    }
  }

  async #offer(): Promise<Offer> {
    const { mcpServers = [], bridge } = this.#options;
    const offer = await offerServers(mcpServers, { support: this.#support, overAcp: this.#overAcp, bridge });
    this.#opening.add(offer);
    return offer;
  }

  #keep(sessionId: string, offer: Offer): void {
    this.#opening.delete(offer);
    this.#offers.set(sessionId, [...(this.#offers.get(sessionId) ?? []), offer]);
  }

  async #withdraw(offer: Offer): Promise<void> {
    this.#opening.delete(offer);
    await offer[Symbol.asyncDispose]();
  }

  /** A session that is closed needs its servers no more. */
  async #ending(request: IncomingRequest, answer: Promise<unknown>): Promise<unknown> {
    const result = await answer;
    const sessionId = sessionIdOf(request.params);
    if (sessionId === undefined || (result as Verbatim).error !== undefined) return result;
    const offers = this.#offers.get(sessionId) ?? [];
    this.#offers.delete(sessionId);
    for (const offer of offers) await offer[Symbol.asyncDispose]();
    return result;
  }

  #fromAgent(request: IncomingRequest): unknown {
    if (this.#overAcp.handles(request)) return this.#overAcp.request(request);
    const held = this.#held.find(request);
    if (held !== undefined) return held.onRequest(request);
    const handler = this.#options.fromAgent?.[request.method];
    const { client } = this.#link;
    return handler === undefined ? passThrough(request, client) : relay(request, client, handler);
  }

  #notifiedByAgent(notification: IncomingNotification): void | Promise<void> {
    if (this.#overAcp.handles(notification)) return this.#overAcp.notification(notification);
    const held = notification.method === "session/update" ? this.#held.find(notification) : undefined;
    return held === undefined ? this.#link.client.passOn(notification) : held.onUpdate(notification);
  }

  async #release(): Promise<void> {
    const offers = [...this.#opening, ...[...this.#offers.values()].flat()];
    this.#opening.clear();
    this.#offers.clear();
    await Promise.allSettled([...offers, this.#overAcp].map(async (owned) => owned[Symbol.asyncDispose]()));
  }
}
