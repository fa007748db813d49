/** The client's side of a connection: what the agent is, its sessions, and the messages that go to each. */
import { RookeryError } from "../../domain/errors.ts";
import { raceAbort } from "../cancellation.ts";
import { Connection, type ConnectionOptions, type RequestOptions } from "../connection/connection.ts";
import type { IncomingNotification, Noise } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import { ACP_PROTOCOL_VERSION } from "../protocol-version.ts";
import { ArrivalLog } from "./routing/arrival-log.ts";
import { SessionBuilder, type SessionRequest, type SessionStart } from "./session-builder.ts";
import { MessageDispatcher, type Route } from "./routing/dispatcher.ts";
import { Backpressure } from "./buffer/backpressure.ts";
import { capabilitiesOf, mergeSessionOptions, type SessionOptions } from "./session-handlers.ts";
import { isFeatureOffered, requireFeature, type AgentFeature } from "./agent-features.ts";
import { McpOffers, type McpOffersOptions } from "./mcp-offers.ts";
import { SessionRoutes } from "./routing/session-routes.ts";
import type { ClientSession } from "./session.ts";
import { setUpSession, type SessionSetupHost } from "./session-setup.ts";

export interface ClientOptions extends Omit<ConnectionOptions, "handlers" | "malformed">, McpOffersOptions {
  /** How the client calls itself. */
  readonly info?: acp.Implementation | undefined;
  /** What every session's client does, unless the session's builder says otherwise. */
  readonly serve?: SessionOptions | undefined;
  /** What the client says of itself; follows from `serve` if not said. */
  readonly capabilities?: acp.ClientCapabilities | undefined;
  /** Hears what the agent writes that is no message, such as its log. */
  readonly onNoise?: ((noise: Noise) => void) | undefined;
  /** An update that nobody here can take: of a session that is not open, or of none. */
  readonly onStray?: ((notification: IncomingNotification) => void) | undefined;
  /** Gives up connecting: the connection is closed. */
  readonly signal?: AbortSignal | undefined;
}

/** What is undefined counts as left out. */
type OptionalParams<Params> = { readonly [Key in keyof Params]: Params[Key] | undefined };

const DEFAULT_INFO = { name: "rookery", version: "0" };

/**
 * Connects to an agent and introduces itself. Rejects with `backend_unsupported` where the agent speaks another version
 * of the protocol, and with `ConnectionClosed` where it ends; the connection is closed then.
 */
export async function connectClient(options: ClientOptions): Promise<Client> {
  const client = new Client(options);
  try {
    options.signal?.throwIfAborted();
    await raceAbort(client.initialize(), options.signal);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A client that is connected. What its handlers of notifications and noise throw closes the connection, as its cause. */
export class Client implements AsyncDisposable {
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #serve: SessionOptions;
  readonly #routes = new SessionRoutes();
  readonly #flow = new Backpressure();
  readonly #arrivals: ArrivalLog;
  readonly #dispatch: MessageDispatcher;
  readonly #offers: McpOffers;
  #agent: acp.InitializeResponse = { protocolVersion: ACP_PROTOCOL_VERSION };

  /** Use `connectClient`. */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#serve = mergeSessionOptions({}, options.serve ?? {});
    this.#arrivals = new ArrivalLog(options.readBytes);
    this.#dispatch = new MessageDispatcher({
      routes: this.#routes,
      flow: this.#flow,
      arrivals: this.#arrivals,
      serve: this.#serve,
      stray: (notification) => options.onStray?.(notification),
      failed: (error) => this.#failed("notifications", error),
    });
    const { peer = "the agent" } = options;
    this.connection = new Connection({
      ...options,
      peer,
      trace: (direction, line) => {
        if (direction === "in") this.#arrivals.add(line);
        options.trace?.(direction, line);
      },
      handlers: {
        request: (request) => this.#dispatch.request(request),
        notification: (notification) => this.#dispatch.notification(notification),
        noise: (noise) => this.#noise(noise),
        failed: (error, { method }) => this.#failed(method, error),
      },
    });
    this.#offers = new McpOffers(this.connection, (route) => void this.addRoute(route), options);
    void this.connection.inputEnded.then(() => {
      const over = this.connection.over ?? new Error("the connection ended");
      for (const session of this.#routes.all) session.onConnectionEnd(over);
    });
    // Told by `close`, where there is one who closes.
    void this.connection.closed.then(() => this.#offers[Symbol.asyncDispose]()).catch(() => undefined);
  }

  /** What the agent said of itself, as it came. */
  get agent(): acp.InitializeResponse {
    return this.#agent;
  }

  get capabilities(): acp.AgentCapabilities {
    const said: unknown = this.#agent.agentCapabilities;
    return typeof said === "object" && said !== null ? said : {};
  }

  get authMethods(): readonly acp.AuthMethod[] {
    const methods: unknown = this.#agent.authMethods;
    return Array.isArray(methods) ? methods.filter(isAuthMethod) : [];
  }

  /** Of `connectClient`. */
  async initialize(): Promise<void> {
    const { info = DEFAULT_INFO, capabilities = capabilitiesOf(this.#serve) } = this.#options;
    const params = { protocolVersion: ACP_PROTOCOL_VERSION, clientCapabilities: capabilities, clientInfo: info };
    const agent = await this.connection.request<acp.InitializeResponse | null>("initialize", params);
    const protocolVersion: unknown = agent?.protocolVersion;
    if (agent !== null && protocolVersion === ACP_PROTOCOL_VERSION) {
      this.#agent = agent;
      return;
    }
    const spoken = protocolVersion === undefined ? "no version" : `version ${JSON.stringify(protocolVersion)}`;
    const message = `${this.connection.peer} speaks ${spoken} of the protocol, and this client ${ACP_PROTOCOL_VERSION}`;
    throw new RookeryError("backend_unsupported", message);
  }

  /** With one of `authMethods`. May take as long as a person takes to log in. */
  async authenticate(methodId: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await raceAbort(this.request("authenticate", { methodId }, { signal }), signal);
  }

  async logout(): Promise<void> {
    await this.request("logout", {});
  }

  /**
   * A builder for a session in that folder, or from a request that was made elsewhere. Throws `input_invalid` where the
   * folder is not absolute.
   */
  session(where: string | SessionRequest): SessionBuilder {
    const request = typeof where === "string" ? { cwd: where } : where;
    return new SessionBuilder(request, this.#serve, (wanted) => this.#start(wanted));
  }

  /** One page; its `nextCursor` as `cursor` gets the next. */
  async listSessions(params: Partial<OptionalParams<acp.ListSessionsRequest>> = {}): Promise<acp.ListSessionsResponse> {
    this.#mustOffer("list");
    return this.request("session/list", params);
  }

  async deleteSession(sessionId: string): Promise<void> {
    this.#mustOffer("delete");
    await this.request("session/delete", { sessionId });
  }

  /** Any request of the protocol or of an extension. Its signal tells the agent; the answer is waited for all the same. */
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result> {
    return this.#flow.waitForCall(() => this.connection.request<Result>(method, params, options));
  }

  notify(method: string, params?: unknown): Promise<void> {
    return this.connection.notify(method, params);
  }

  /** Returns how to take it away again. */
  addRoute(route: Route): () => void {
    return this.#dispatch.addRoute(route);
  }

  /** Fails what was asked, and what is read gets the error behind what has come. A second call waits for the first. */
  async close(): Promise<void> {
    await this.connection.close();
    await this.#offers[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start({ method, params, mcpServers, options, sessionId, signal }: SessionStart): Promise<ClientSession> {
    this.#mustOffer(method.slice("session/".length) as AgentFeature);
    const { additionalDirectories } = params;
    if (Array.isArray(additionalDirectories) && additionalDirectories.length > 0) {
      this.#mustOffer("additionalDirectories");
    }
    const offer = await this.#offers.offer(mcpServers, this.capabilities.mcpCapabilities);
    const host: SessionSetupHost = {
      connection: this.connection,
      routes: this.#routes,
      flow: this.#flow,
      arrivals: this.#arrivals,
      closes: isFeatureOffered(this.capabilities, "close"),
      stray: (notification) => this.#options.onStray?.(notification),
    };
    const leave = async (session: ClientSession): Promise<void> => {
      this.#routes.remove(session);
      await offer[Symbol.asyncDispose]();
    };
    try {
      const given = { ...params, mcpServers: offer.mcpServers };
      return await setUpSession(host, { method, params: given, options, sessionId, leave, signal });
    } catch (error) {
      await offer[Symbol.asyncDispose]();
      throw error;
    }
  }

  #mustOffer(what: AgentFeature): void {
    requireFeature(this.connection.peer, this.capabilities, what);
  }

  #noise(noise: Noise): void {
    try {
      this.#options.onNoise?.(noise);
    } catch (error) {
      this.#failed("noise", error);
    }
  }

  /** Nobody else would hear of it. */
  #failed(what: string, cause: unknown): void {
    void this.connection.close(new Error(`a handler of ${what} failed`, { cause }));
  }
}

function isAuthMethod(method: unknown): method is acp.AuthMethod {
  const { id, name } = (method ?? {}) as { id?: unknown; name?: unknown };
  return typeof id === "string" && typeof name === "string";
}
