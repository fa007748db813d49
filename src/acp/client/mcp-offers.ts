/** Offers MCP servers to sessions and closes what it opened for a session when that session is left. */
import type { InProcessServer, McpDeclaration, McpSupport } from "../mcp/declaration.ts";
import type { Offer } from "../mcp/offer.ts";
import type { McpDialect } from "../mcp/over-acp/envelope.ts";
import type { McpPeer } from "../mcp/over-acp/mcp-peer.ts";
import type { McpOverAcp } from "../mcp/over-acp/provider.ts";
import type { Route } from "./routing/dispatcher.ts";

export interface McpOffersOptions {
  /** How a server in this process is declared to an agent that reaches it over ACP. Default: `official`. */
  readonly mcpDialect?: McpDialect | undefined;
  /**
   * The command of the program that connects an agent on stdio to a server that it cannot reach itself. Default: the
   * one of this package.
   */
  readonly mcpBridge?: readonly string[] | undefined;
}

export class McpOffers implements AsyncDisposable {
  readonly #peer: McpPeer;
  readonly #addRoute: (route: Route) => void;
  readonly #options: McpOffersOptions;
  readonly #open = new Set<Offer>();
  #overAcp: McpOverAcp | undefined;
  #closing: Promise<void> | undefined;

  constructor(peer: McpPeer, addRoute: (route: Route) => void, options: McpOffersOptions) {
    this.#peer = peer;
    this.#addRoute = addRoute;
    this.#options = options;
  }

  /** Rejects with `config_invalid` if two servers have the same name. */
  async offer(
    servers: readonly (McpDeclaration | InProcessServer)[],
    support: McpSupport | null | undefined,
  ): Promise<Offer> {
    if (servers.length === 0) return { mcpServers: [], [Symbol.asyncDispose]: () => Promise.resolve() };
    const { McpOverAcp, offerServers } = await import("../mcp/index.ts"); // large, and rarely needed
    const overAcp = (this.#overAcp ??= this.#serve(new McpOverAcp(this.#peer, { dialect: this.#options.mcpDialect })));
    const offer = await offerServers(servers, { support, overAcp, bridge: this.#options.mcpBridge });
    this.#open.add(offer);
    const close = async (): Promise<void> => {
      this.#open.delete(offer);
      await offer[Symbol.asyncDispose]();
    };
    return { mcpServers: offer.mcpServers, [Symbol.asyncDispose]: close };
  }

  /** A second call waits for the first. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#open].map((offer) => offer[Symbol.asyncDispose]()));
    await this.#overAcp?.[Symbol.asyncDispose]();
  }

  #serve(overAcp: McpOverAcp): McpOverAcp {
    this.#addRoute({
      takes: (message) => overAcp.handles(message),
      request: (request) => overAcp.request(request),
      notification: (notification) => overAcp.notification(notification),
    });
    return overAcp;
  }
}
