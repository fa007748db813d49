/** The MCP servers that sessions are given: what was opened for one is closed when it is closed or set up again. */
import { offerServers } from "../mcp/index.ts";
import type { InProcessServer, McpDeclaration, McpOverAcp, McpSupport, Offer } from "../mcp/index.ts";

export interface SessionOffersOptions {
  /** What serves on the connection to the agent, if anything does. */
  readonly overAcp?: McpOverAcp | undefined;
  /** The command of the program that bridges stdio to a server of this process. */
  readonly bridge?: readonly string[] | undefined;
}

/** Sets a session up with these servers, and says which session it was, if it was one. */
type SendSetup<T> = (
  servers: readonly McpDeclaration[],
) => Promise<{ readonly sessionId: string | undefined; readonly value: T }>;

export class SessionOffers implements AsyncDisposable {
  readonly #options: SessionOffersOptions;
  readonly #bySession = new Map<string, Offer>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closing = new Set<Promise<void>>();
  /** As the agent said it. */
  #support: McpSupport | undefined;

  constructor(options: SessionOffersOptions) {
    this.#options = options;
  }

  get support(): McpSupport | undefined {
    return this.#support;
  }

  /** The agent has introduced itself. */
  recordInitialize(result: unknown): void {
    const { agentCapabilities } = (result ?? {}) as { agentCapabilities?: { mcpCapabilities?: McpSupport } | null };
    this.#support = agentCapabilities?.mcpCapabilities;
  }

  /** Gives them in a form that the agent takes. */
  async give<T>(servers: readonly (McpDeclaration | InProcessServer)[], send: SendSetup<T>): Promise<T> {
    const giving = this.#give(servers, send);
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

  /** To be called when the agent answers no more. Rejects where a server could not be closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#underWay);
    for (const sessionId of [...this.#bySession.keys()]) this.end(sessionId);
    const ended = await Promise.allSettled(this.#closing);
    const failures = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    if (failures.length > 0) throw new AggregateError(failures, "not every MCP server could be closed");
  }

  async #give<T>(servers: readonly (McpDeclaration | InProcessServer)[], send: SendSetup<T>): Promise<T> {
    const offer = await offerServers(servers, { support: this.#support, ...this.#options });
    let sessionId: string | undefined;
    try {
      const sent = await send(offer.mcpServers);
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
