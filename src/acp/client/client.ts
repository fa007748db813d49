/** The client's side of a connection: what the agent is, its sessions, and the messages that go to each. */
import { RookeryError } from "../../domain/errors.ts";
import { Connection, type ConnectionOptions, type RequestOptions } from "../connection/connection.ts";
import type { IncomingNotification, Noise } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import { Arrivals } from "./arrivals.ts";
import { SessionBuilder, type SessionRequest, type Wanted } from "./builder.ts";
import { Dispatch, type Route } from "./dispatch.ts";
import { Flow } from "./flow.ts";
import { capabilitiesOf, layered, type SessionOptions } from "./handlers.ts";
import { isOffered, mustOffer, type Offerable } from "./offered.ts";
import { McpOffers, type OffersOptions } from "./offers.ts";
import { SessionRoutes } from "./routes.ts";
import type { ClientSession } from "./session.ts";
import { setUp, unlessAborted, type SetUpHost } from "./set-up.ts";

export interface ClientOptions extends Omit<ConnectionOptions, "handlers" | "malformed">, OffersOptions {
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
type Loose<Params> = { readonly [Key in keyof Params]: Params[Key] | undefined };

const PROTOCOL_VERSION = 1;
const UNKNOWN = { name: "rookery", version: "0" };

/**
 * Connects to an agent and introduces itself. Rejects with `backend_unsupported` where the agent speaks another version
 * of the protocol, and with `ConnectionClosed` where it ends; the connection is closed then.
 */
export async function connectClient(options: ClientOptions): Promise<Client> {
  const client = new Client(options);
  try {
    options.signal?.throwIfAborted();
    await unlessAborted(options.signal, client.initialize());
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
  readonly #flow = new Flow();
  readonly #arrivals: Arrivals;
  readonly #dispatch: Dispatch;
  readonly #offers: McpOffers;
  #agent: acp.InitializeResponse = { protocolVersion: PROTOCOL_VERSION };

  /** Use `connectClient`. */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#serve = layered({}, options.serve ?? {});
    this.#arrivals = new Arrivals(options.readBytes);
    this.#dispatch = new Dispatch({
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
        if (direction === "in") this.#arrivals.came(line);
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
      for (const session of this.#routes.all) session.onOver(over);
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
    const { info = UNKNOWN, capabilities = capabilitiesOf(this.#serve) } = this.#options;
    const params = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: capabilities, clientInfo: info };
    const agent = await this.connection.request<acp.InitializeResponse | null>("initialize", params);
    const protocolVersion: unknown = agent?.protocolVersion;
    if (agent !== null && protocolVersion === PROTOCOL_VERSION) {
      this.#agent = agent;
      return;
    }
    const spoken = protocolVersion === undefined ? "no version" : `version ${JSON.stringify(protocolVersion)}`;
    const message = `${this.connection.peer} speaks ${spoken} of the protocol, and this client ${PROTOCOL_VERSION}`;
    throw new RookeryError("backend_unsupported", message);
  }

  /** With one of `authMethods`. May take as long as a person takes to log in. */
  async authenticate(methodId: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await unlessAborted(signal, this.request("authenticate", { methodId }, { signal }));
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
  async listSessions(params: Partial<Loose<acp.ListSessionsRequest>> = {}): Promise<acp.ListSessionsResponse> {
    this.#mustOffer("list");
    return this.request("session/list", params);
  }

  async deleteSession(sessionId: string): Promise<void> {
    this.#mustOffer("delete");
    await this.request("session/delete", { sessionId });
  }

  /** Any request of the protocol or of an extension. Its signal tells the agent; the answer is waited for all the same. */
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result> {
    return this.#flow.call(() => this.connection.request<Result>(method, params, options));
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

  async #start({ method, params, mcpServers, options, sessionId, signal }: Wanted): Promise<ClientSession> {
    this.#mustOffer(method.slice("session/".length) as Offerable);
    const { additionalDirectories } = params;
    if (Array.isArray(additionalDirectories) && additionalDirectories.length > 0) {
      this.#mustOffer("additionalDirectories");
    }
    const offer = await this.#offers.offer(mcpServers, this.capabilities.mcpCapabilities);
    const host: SetUpHost = {
      connection: this.connection,
      routes: this.#routes,
      flow: this.#flow,
      arrivals: this.#arrivals,
      closes: isOffered(this.capabilities, "close"),
      stray: (notification) => this.#options.onStray?.(notification),
    };
    const leave = async (session: ClientSession): Promise<void> => {
      this.#routes.remove(session);
      await offer[Symbol.asyncDispose]();
    };
    try {
      const given = { ...params, mcpServers: offer.mcpServers };
      return await setUp(host, { method, params: given, options, sessionId, leave, signal });
    } catch (error) {
      await offer[Symbol.asyncDispose]();
      throw error;
    }
  }

  #mustOffer(what: Offerable): void {
    mustOffer(this.connection.peer, this.capabilities, what);
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
