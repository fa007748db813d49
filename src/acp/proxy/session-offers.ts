/** Offers MCP servers to sessions. Closes what was opened for a session when it is closed or set up again. */
import { offerServers } from "../mcp/index.ts";
import type { InProcessServer, McpDeclaration, McpOverAcp, McpSupport, Offer } from "../mcp/index.ts";
import type * as acp from "../schema.ts";
import { getObjectMember } from "../wire/json-object.ts";

export interface SessionOffersOptions {
  /** Serves MCP on the connection to the agent, if set. */
  readonly overAcp?: McpOverAcp | undefined;
  /** The command of the program that bridges stdio to a server in this process. Default: the one of this package. */
  readonly bridge?: readonly string[] | undefined;
}

/** Sets a session up with these servers. Resolves with the session's id if that succeeded. */
type SendSetup<T> = (
  servers: readonly McpDeclaration[],
) => Promise<{ readonly sessionId: string | undefined; readonly value: T }>;

export class SessionOffers implements AsyncDisposable {
  readonly #options: SessionOffersOptions;
  readonly #bySession = new Map<string, Offer>();
  readonly #pendingSetups = new Set<Promise<unknown>>();
  readonly #closing = new Set<Promise<void>>();
  #capabilities: acp.AgentCapabilities = {};

  constructor(options: SessionOffersOptions) {
    this.#options = options;
  }

  get support(): McpSupport | undefined {
    return this.#capabilities.mcpCapabilities;
  }

  /** As the agent sent them. Empty before it is initialized. */
  get capabilities(): acp.AgentCapabilities {
    return this.#capabilities;
  }

  /** Records the agent's capabilities from its `initialize` result. */
  recordInitialize(result: unknown): void {
    this.#capabilities = getObjectMember(result, "agentCapabilities");
  }

  /** Passes the servers to `send` in a form that the agent supports. */
  async offerAndSend<T>(servers: readonly (McpDeclaration | InProcessServer)[], send: SendSetup<T>): Promise<T> {
    const giving = this.#offerAndSend(servers, send);
    this.#pendingSetups.add(giving);
    try {
      return await giving;
    } finally {
      this.#pendingSetups.delete(giving);
    }
  }

  /** Closes the servers of the session. */
  closeServers(sessionId: string): void {
    const offer = this.#bySession.get(sessionId);
    this.#bySession.delete(sessionId);
    if (offer !== undefined) this.#close(offer);
  }

  /** Call it when the agent answers no more. Rejects if a server could not be closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#pendingSetups);
    for (const sessionId of [...this.#bySession.keys()]) this.closeServers(sessionId);
    const ended = await Promise.allSettled(this.#closing);
    const failures = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    if (failures.length > 0) throw new AggregateError(failures, "some MCP servers could not be closed");
  }

  async #offerAndSend<T>(servers: readonly (McpDeclaration | InProcessServer)[], send: SendSetup<T>): Promise<T> {
    if (servers.length === 0) return this.#sendWithoutServers(send); // sent at once, in the order of the calls
    const offer = await offerServers(servers, { support: this.support, ...this.#options });
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

  async #sendWithoutServers<T>(send: SendSetup<T>): Promise<T> {
    const { sessionId, value } = await send([]);
    if (sessionId !== undefined) this.closeServers(sessionId); // of an earlier setup
    return value;
  }

  #keep(sessionId: string, offer: Offer): void {
    this.closeServers(sessionId);
    this.#bySession.set(sessionId, offer);
  }

  /** Setup does not wait for old servers to close; closing the proxy does, and reports errors. */
  #close(offer: Offer): void {
    const closing = Promise.resolve(offer[Symbol.asyncDispose]());
    this.#closing.add(closing);
    closing.then(
      () => this.#closing.delete(closing),
      () => undefined,
    );
  }
}
