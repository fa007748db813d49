/** The client's side of a connection: initializes the agent, starts sessions, and routes messages to them. */
import { RookeryError } from "../../domain/errors.ts";
import { raceAbort } from "../../stdx/index.ts";
import { Connection, type ConnectionOptions, type RequestOptions } from "../connection/connection.ts";
import type { IncomingNotification, Noise, Verbatim } from "../connection/incoming.ts";
import { requestCancelled } from "../errors.ts";
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
import { getSessionId } from "./routing/request-params.ts";
import { ClientSession } from "./session.ts";
import { currentDirectory, requireAttachedId, sessionInUse, toVerbatim, type AttachOptions } from "./attach.ts";
import { setUpSession, type SessionSetupHost } from "./session-setup.ts";

export interface AcpClientOptions extends Omit<ConnectionOptions, "handlers" | "malformed">, McpOffersOptions {
  /** Name and version of this client. Default: `rookery` without a version. */
  readonly info?: acp.Implementation | undefined;
  /** Handlers for all sessions. The session builder can override them. */
  readonly serve?: SessionOptions | undefined;
  /** The capabilities to advertise. Default: derived from `serve`. */
  readonly capabilities?: acp.ClientCapabilities | undefined;
  /** Called for output of the agent that is not a message, such as a log line. */
  readonly onNoise?: ((noise: Noise) => void) | undefined;
  /** Called for an update without a session, or of a session that is not open. */
  readonly onStray?: ((notification: IncomingNotification) => void) | undefined;
  /** Stops connecting and closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** Allows undefined for every field. */
type OptionalParams<Params> = { readonly [Key in keyof Params]: Params[Key] | undefined };

const DEFAULT_INFO = { name: "rookery", version: "0" };

/**
 * Connects to an agent and initializes it. Rejects with `backend_unsupported` if the agent speaks another protocol
 * version, and with `ConnectionClosed` if it exits; the connection is closed in both cases.
 */
export async function connectClient(options: AcpClientOptions): Promise<Client> {
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

/**
 * A connected client. If a handler of notifications or noise throws, the connection closes with that error as its
 * cause.
 */
export class Client implements AsyncDisposable {
  readonly connection: Connection;
  readonly #options: AcpClientOptions;
  readonly #serve: SessionOptions;
  readonly #routes: SessionRoutes = new SessionRoutes((notification) => void this.#dispatch.deliver(notification));
  readonly #backpressure = new Backpressure();
  readonly #arrivals: ArrivalLog;
  readonly #dispatch: MessageDispatcher;
  readonly #offers: McpOffers;
  #agent: acp.InitializeResponse = { protocolVersion: ACP_PROTOCOL_VERSION };

  /** Use `connectClient`. */
  constructor(options: AcpClientOptions) {
    this.#options = options;
    this.#serve = mergeSessionOptions({}, options.serve ?? {});
    this.#arrivals = new ArrivalLog(options.readBytes);
    this.#dispatch = new MessageDispatcher({
      routes: this.#routes,
      backpressure: this.#backpressure,
      arrivals: this.#arrivals,
      serve: this.#serve,
      stray: (notification) => options.onStray?.(notification),
      failed: (error) => this.#closeAfterFailure("notifications", error),
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
        noise: (noise) => this.#reportNoise(noise),
        failed: (error, { method }) => this.#closeAfterFailure(method, error),
      },
    });
    this.#offers = new McpOffers(this.connection, (route) => void this.addRoute(route), options);
    void this.connection.inputEnded.then(() => {
      const reason = this.connection.over ?? new Error("the connection ended");
      for (const session of this.#routes.all) session.onConnectionEnd(reason);
    });
    // `close` reports the error to its caller.
    void this.connection.closed.then(() => this.#offers[Symbol.asyncDispose]()).catch(() => undefined);
  }

  /** The agent's `initialize` response as it came. */
  get agent(): acp.InitializeResponse {
    return this.#agent;
  }

  get capabilities(): acp.AgentCapabilities {
    const advertised: unknown = this.#agent.agentCapabilities;
    return typeof advertised === "object" && advertised !== null ? advertised : {};
  }

  get authMethods(): readonly acp.AuthMethod[] {
    const methods: unknown = this.#agent.authMethods;
    return Array.isArray(methods) ? methods.filter(isAuthMethod) : [];
  }

  /** Called by `connectClient`. */
  async initialize(): Promise<void> {
    const { info = DEFAULT_INFO, capabilities = capabilitiesOf(this.#serve) } = this.#options;
    const params = { protocolVersion: ACP_PROTOCOL_VERSION, clientCapabilities: capabilities, clientInfo: info };
    const agent = await this.connection.request<acp.InitializeResponse | null>("initialize", params);
    const protocolVersion: unknown = agent?.protocolVersion;
    if (agent !== null && protocolVersion === ACP_PROTOCOL_VERSION) {
      this.#agent = agent;
      return;
    }
    const { peer } = this.connection;
    const message =
      typeof protocolVersion === "number"
        ? `${peer} speaks version ${protocolVersion} of the protocol, but this client speaks version ${ACP_PROTOCOL_VERSION}`
        : `${peer} answered initialize without a valid protocol version`;
    throw new RookeryError("backend_unsupported", message);
  }

  /** `methodId` is the id of one of `authMethods`. May take as long as the user needs to log in. */
  async authenticate(methodId: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    signal?.throwIfAborted();
    await raceAbort(this.request("authenticate", { methodId }, { signal }), signal);
  }

  async logout(): Promise<void> {
    await this.request("logout", {});
  }

  /**
   * Returns a builder for a session in this directory, or from an existing request. Default: the current directory.
   * Throws `input_invalid` if the directory is not absolute, or if the current directory does not exist.
   *
   * Sessions with the same handlers of requests are set up at the same time. A session with other handlers
   * (`serve`) waits for them, because the agent may send requests before it names the session.
   */
  session(where: string | SessionRequest = currentDirectory()): SessionBuilder {
    const request = typeof where === "string" ? { cwd: where } : where;
    return new SessionBuilder(request, this.#serve, (start) => this.#start(start));
  }

  /** Returns one page. Pass its `nextCursor` as `cursor` to get the next one. */
  async listSessions(params: Partial<OptionalParams<acp.ListSessionsRequest>> = {}): Promise<acp.ListSessionsResponse> {
    this.#mustOffer("list");
    return this.request("session/list", params);
  }

  async deleteSession(sessionId: string): Promise<void> {
    this.#mustOffer("delete");
    await this.request("session/delete", { sessionId });
  }

  /**
   * Sends any request of the protocol or of an extension. Aborting the signal sends `$/cancel_request`; the promise
   * still waits for the answer.
   */
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result> {
    const send = (sent = options): Promise<Result> =>
      this.#backpressure.waitForCall(() => this.connection.request<Result>(method, params, sent));
    if (method !== "session/new" && method !== "session/fork") return send();
    return this.#requestSession(options, send);
  }

  /**
   * Opens a session that was created by a plain request, such as `request("session/new", …)`. It misses nothing if it
   * is called as soon as that request resolves. Throws `input_invalid` if the response has no session id, and
   * `session_in_use` if the session is already open on this connection.
   */
  attach({ response, serve = {} }: AttachOptions): ClientSession {
    const id = requireAttachedId(response);
    if (this.#routes.has(id)) throw sessionInUse(id);
    const session = new ClientSession({
      connection: this.connection,
      id,
      options: mergeSessionOptions(this.#serve, serve),
      backpressure: this.#backpressure,
      arrivals: this.#arrivals,
      closes: isFeatureOffered(this.capabilities, "close"),
      leave: (leaving) => Promise.resolve(this.#routes.remove(leaving)),
    });
    session.recordSetup(toVerbatim(response));
    this.#routes.add(session);
    return session;
  }

  notify(method: string, params?: unknown): Promise<void> {
    return this.connection.notify(method, params);
  }

  /** Returns a function that removes the route. */
  addRoute(route: Route): () => void {
    return this.#dispatch.addRoute(route);
  }

  /**
   * Rejects pending requests; readers get the error after everything that has arrived. A second call waits for the
   * first.
   */
  async close(): Promise<void> {
    await this.connection.close();
    await this.#offers[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A plain request that creates a session: what comes before its response is kept for `attach`. */
  #requestSession<Result>(
    options: RequestOptions | undefined,
    send: (options: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const onResponse = (response: Verbatim): void | Promise<void> => {
      const id = response.error === undefined ? getSessionId(response.result) : undefined;
      if (id !== undefined) this.#routes.keepForAttach(id);
      return options?.onResponse?.(response);
    };
    const run = async (): Promise<Result> => {
      if (options?.signal?.aborted === true) throw requestCancelled(); // it may have waited for other setups
      return send({ ...options, onResponse });
    };
    return this.#routes.runSetup({ options: this.#serve, run });
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
      backpressure: this.#backpressure,
      arrivals: this.#arrivals,
      closes: isFeatureOffered(this.capabilities, "close"),
    };
    const leave = async (session: ClientSession): Promise<void> => {
      this.#routes.remove(session);
      await offer[Symbol.asyncDispose]();
    };
    try {
      const setupParams = { ...params, mcpServers: offer.mcpServers };
      return await setUpSession(host, { method, params: setupParams, options, sessionId, leave, signal });
    } catch (error) {
      await offer[Symbol.asyncDispose]();
      throw error;
    }
  }

  #mustOffer(what: AgentFeature): void {
    requireFeature(this.connection.peer, this.capabilities, what);
  }

  #reportNoise(noise: Noise): void {
    try {
      this.#options.onNoise?.(noise);
    } catch (error) {
      this.#closeAfterFailure("noise", error);
    }
  }

  /** Closes the connection, because nobody else would see the error. */
  #closeAfterFailure(what: string, cause: unknown): void {
    void this.connection.close(new Error(`a handler of ${what} failed`, { cause }));
  }
}

function isAuthMethod(method: unknown): method is acp.AuthMethod {
  const { id, name } = (method ?? {}) as { id?: unknown; name?: unknown };
  return typeof id === "string" && typeof name === "string";
}
