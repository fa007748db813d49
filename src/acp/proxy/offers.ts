/** The MCP servers that a proxy gives to sessions: what was opened for one is closed when it is closed or set up again. */
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import { injectServers, isMcpMethod, McpOverAcp, offerServers } from "../mcp/index.ts";
import type { InProcessServer, McpDeclaration, McpDialect, McpPeer, McpSupport, Offer } from "../mcp/index.ts";

export interface OffersOptions {
  readonly servers: readonly (McpDeclaration | InProcessServer)[];
  readonly dialect: McpDialect | undefined;
  readonly bridge: readonly string[] | undefined;
}

type Send<T> = (params: unknown) => Promise<{ readonly sessionId: string | undefined; readonly value: T }>;

export class SessionOffers implements AsyncDisposable {
  readonly #options: OffersOptions;
  readonly #overAcp: McpOverAcp;
  readonly #bySession = new Map<string, Offer>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closing = new Set<Promise<void>>();
  /** As the agent said it. */
  #support: McpSupport | undefined;

  constructor(agent: McpPeer, options: OffersOptions) {
    this.#options = options;
    this.#overAcp = new McpOverAcp(agent, { dialect: options.dialect });
  }

  get isEmpty(): boolean {
    return this.#options.servers.length === 0;
  }

  /** The agent has introduced itself. */
  introduced(result: unknown): void {
    const { agentCapabilities } = (result ?? {}) as { agentCapabilities?: { mcpCapabilities?: McpSupport } | null };
    this.#support = agentCapabilities?.mcpCapabilities;
  }

  /** Sets a session up: `send` gets the params with the servers in them, and says which session it was, if it was one. */
  async give<T>(params: unknown, send: Send<T>): Promise<T> {
    const giving = this.#give(params, send);
    this.#underWay.add(giving);
    try {
      return await giving;
    } finally {
      this.#underWay.delete(giving);
    }
  }

  /** The session needs its servers no more. */
  end(sessionId: string): void {
    const offer = this.#bySession.get(sessionId);
    this.#bySession.delete(sessionId);
    if (offer !== undefined) this.#close(offer);
  }

  /** Whether it is for one of these servers. */
  handles(message: IncomingNotification): boolean {
    return isMcpMethod(message.method) && this.#overAcp.handles(message);
  }

  request(request: IncomingRequest): Promise<unknown> {
    return this.#overAcp.request(request);
  }

  notification(notification: IncomingNotification): void {
    this.#overAcp.notification(notification);
  }

  /** To be called when the agent answers no more. Rejects where a server could not be closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#underWay);
    for (const sessionId of [...this.#bySession.keys()]) this.end(sessionId);
    const ended = await Promise.allSettled([...this.#closing, this.#overAcp[Symbol.asyncDispose]()]);
    const failures = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    if (failures.length > 0) throw new AggregateError(failures, "not every MCP server could be closed");
  }

  async #give<T>(params: unknown, send: Send<T>): Promise<T> {
    if (this.isEmpty) return (await send(params)).value;
    const { servers, bridge } = this.#options;
    const offer = await offerServers(servers, { support: this.#support, overAcp: this.#overAcp, bridge });
    let sessionId: string | undefined;
    try {
      const sent = await send(injectServers(params, offer.mcpServers));
      ({ sessionId } = sent);
      return sent.value;
    } finally {
      if (sessionId === undefined) this.#close(offer);
      else this.#keep(sessionId, offer);
    }
  }

  #keep(sessionId: string, offer: Offer): void {
    this.end(sessionId);
    this.#bySession.set(sessionId, offer);
  }

  /** Nobody who set a session up waits for the end of its servers; who closes the proxy does, and is told. */
  #close(offer: Offer): void {
    const closing = Promise.resolve(offer[Symbol.asyncDispose]());
    this.#closing.add(closing);
    closing.then(
      () => this.#closing.delete(closing),
      () => undefined,
    );
  }
}
