/** The client's side of a connection: what the agent is, its sessions, and the messages that go to each. */
import { RookeryError } from "../../domain/errors.ts";
import { Connection, type ConnectionOptions, type RequestOptions } from "../connection/connection.ts";
import type { IncomingNotification, IncomingRequest, Noise, Verbatim } from "../connection/incoming.ts";
import { methodNotFound, notFound } from "../errors.ts";
import type * as acp from "../schema.ts";
import { SessionBuilder, sessionIdIn, type SetUp, type SetUpMethod } from "./builder.ts";
import { capabilitiesOf, serve, sessionIdOf } from "./handlers.ts";
import { SessionRoutes } from "./routes.ts";
import { ClientSession, type SessionOptions } from "./session.ts";

export interface ClientOptions extends Omit<ConnectionOptions, "handlers" | "malformed"> {
  readonly info?: acp.Implementation | undefined;
  /** What every session's client does, unless the session's builder says otherwise. */
  readonly serve?: SessionOptions | undefined;
  /** What the client says of itself; follows from `serve` if not said. */
  readonly capabilities?: acp.ClientCapabilities | undefined;
  readonly onNoise?: ((noise: Noise) => void) | undefined;
  /** An update of a session that nobody here has. */
  readonly onStray?: ((notification: IncomingNotification) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Takes messages that belong to no session: `mcp/message`, and what extensions bring. */
export interface Route {
  readonly takes: (message: IncomingNotification) => boolean;
  request(request: IncomingRequest): unknown;
  notification(notification: IncomingNotification): void | Promise<void>;
}

const PROTOCOL_VERSION = 1;
const UNKNOWN = { name: "rookery", version: "0" };

/** Connects and introduces itself. Rejects where the agent speaks another version of the protocol, or none. */
export async function connectClient(options: ClientOptions): Promise<Client> {
  const client = new Client(options);
  try {
    await client.initialize(options.signal);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

export class Client implements AsyncDisposable {
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #serve: SessionOptions;
  readonly #routes = new SessionRoutes();
  readonly #extra = new Set<Route>();
  #agent: acp.InitializeResponse = { protocolVersion: PROTOCOL_VERSION };

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#serve = options.serve ?? {};
    const { peer = "the agent" } = options;
    this.connection = new Connection({
      ...options,
      peer,
      handlers: {
        request: (request) => this.#request(request),
        notification: (notification) => this.#notification(notification),
        noise: (noise) => options.onNoise?.(noise),
        failed: (error, { method }) =>
          void this.connection.close(new Error(`a handler of ${method} failed`, { cause: error })),
      },
    });
    void this.connection.inputEnded.then(() => {
      const over = this.connection.over ?? new Error("the connection ended");
      for (const session of this.#routes.all) session.onOver(over);
    });
  }

  /** What the agent said of itself, as it came. */
  get agent(): acp.InitializeResponse {
    return this.#agent;
  }

  get capabilities(): acp.AgentCapabilities {
    return this.#agent.agentCapabilities ?? {};
  }

  get authMethods(): readonly acp.AuthMethod[] {
    return this.#agent.authMethods ?? [];
  }

  async initialize(signal?: AbortSignal): Promise<void> {
    const { info = UNKNOWN, capabilities = capabilitiesOf(this.#serve) } = this.#options;
    const params = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: capabilities, clientInfo: info };
    this.#agent = await this.connection.request<acp.InitializeResponse>("initialize", params, { signal });
    const { protocolVersion } = this.#agent;
    if (protocolVersion === PROTOCOL_VERSION) return;
    const message = `${this.connection.peer} speaks version ${String(protocolVersion)} of the protocol, not ${PROTOCOL_VERSION}`;
    throw new RookeryError("backend_unsupported", message);
  }

  async authenticate(methodId: string, signal?: AbortSignal): Promise<void> {
    await this.connection.request("authenticate", { methodId }, { signal });
  }

  async logout(): Promise<void> {
    await this.connection.request("logout", {});
  }

  /** A builder for a session in that folder, or from a request that was made elsewhere. */
  session(where: string | ({ readonly cwd: string } & Readonly<Record<string, unknown>>)): SessionBuilder {
    return new SessionBuilder(this, typeof where === "string" ? { cwd: where } : where, this.#serve);
  }

  /** One page; `nextCursor` gets the next. */
  listSessions(params: acp.ListSessionsRequest = {}): Promise<acp.ListSessionsResponse> {
    this.mustOffer("session/list");
    return this.connection.request("session/list", params);
  }

  async deleteSession(sessionId: string): Promise<void> {
    this.mustOffer("session/delete");
    await this.connection.request("session/delete", { sessionId });
  }

  /** Any request of the protocol or of an extension. */
  request<Result = unknown>(method: string, params?: unknown, options?: RequestOptions): Promise<Result> {
    return this.connection.request<Result>(method, params, options);
  }

  notify(method: string, params?: unknown): Promise<void> {
    return this.connection.notify(method, params);
  }

  /** Returns how to take it away again. */
  addRoute(route: Route): () => void {
    this.#extra.add(route);
    return () => void this.#extra.delete(route);
  }

  /** Throws `backend_unsupported` where the agent does not advertise it. */
  mustOffer(method: SetUpMethod | "session/list" | "session/delete"): void {
    const { loadSession, sessionCapabilities = {} } = this.capabilities;
    const offered: Record<string, unknown> = {
      ...sessionCapabilities,
      new: true,
      load: loadSession === true || undefined,
    };
    if ((offered[method.slice("session/".length)] ?? undefined) !== undefined) return;
    throw new RookeryError("backend_unsupported", `${this.connection.peer} does not offer ${method}`);
  }

  /** Sends a set-up request; what arrives for the session goes to it from the first message on. */
  async setUp({ method, params, options, sessionId, signal }: SetUp): Promise<ClientSession> {
    const { connection } = this;
    const leave = (session: ClientSession): Promise<void> => {
      this.#routes.remove(session);
      return Promise.resolve();
    };
    const open = (id: string): ClientSession => new ClientSession({ connection, id, options, leave });
    const send = async (named: (response: Verbatim) => ClientSession): Promise<ClientSession> => {
      let session: ClientSession | undefined;
      let failed: unknown;
      const onResponse = (response: Verbatim): void => {
        try {
          session = named(response);
          session.started(response);
        } catch (error) {
          failed = error;
        }
      };
      await connection.request(method, params, { signal, onResponse });
      if (session === undefined) throw failed;
      return session;
    };
    if (sessionId === undefined) {
      return this.#routes.settingUp(open, (named) => send((response) => named(sessionIdIn(response, method))));
    }
    if (this.#routes.has(sessionId)) {
      throw new RookeryError("session_in_use", `session ${sessionId} is open on this connection already`);
    }
    const session = open(sessionId);
    if (method === "session/load") session.loading();
    this.#routes.add(session);
    try {
      return await send(() => session);
    } catch (error) {
      this.#routes.remove(session);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #notification(notification: IncomingNotification): void | Promise<void> {
    const route = this.#routeOf(notification);
    if (route !== undefined) return route.notification(notification);
    if (notification.method !== "session/update") return this.#serve.notification?.(notification);
    const session = this.#routes.find(notification);
    if (session === undefined) return this.#options.onStray?.(notification);
    return session.onUpdate(notification);
  }

  #request(request: IncomingRequest): unknown {
    const route = this.#routeOf(request);
    if (route !== undefined) return route.request(request);
    const session = this.#routes.find(request);
    if (session !== undefined) return session.onRequest(request);
    const sessionId = sessionIdOf(request.params);
    if (sessionId !== undefined && !request.method.startsWith("_")) throw notFound(`session ${sessionId}`);
    if (request.method === "session/request_permission") throw methodNotFound(request.method);
    return serve(this.#serve, request, { sessionId, signal: request.signal });
  }

  #routeOf(message: IncomingNotification): Route | undefined {
    for (const route of this.#extra) if (route.takes(message)) return route;
    return undefined;
  }
}
