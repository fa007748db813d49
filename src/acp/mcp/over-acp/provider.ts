/** Serves MCP servers in this process to the peer of an ACP connection, in the dialect of the peer. */
import { raceCancellation } from "../../cancellation.ts";
import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingNotification, IncomingRequest } from "../../connection/incoming.ts";
import { PeerError, invalidParams, methodNotFound, peerError } from "../../errors.ts";
import type { InProcessServer, McpDeclaration } from "../declaration.ts";
import { ServerLinkClosed, type ServerLink } from "../server-link.ts";
import { BINDING_ERRORS, isMcpMethod, openEnvelope, type Envelope, type McpDialect } from "./envelope.ts";
import type { McpPeer } from "./mcp-peer.ts";
import { openStatefulConnection } from "./stateful.ts";
import { StatelessServer } from "./stateless.ts";

export interface McpOverAcpOptions {
  /** How servers are declared. Default: `official`. */
  readonly dialect?: McpDialect | undefined;
}

export interface ServedServer extends AsyncDisposable {
  readonly declaration: McpDeclaration;
}

/** Maximum number of open connections per agent, over all servers. */
const MAX_CONNECTIONS = 256;

export class McpOverAcp implements AsyncDisposable {
  readonly #peer: McpPeer;
  readonly #dialect: McpDialect;
  /** Part of every id that is created here, so that a proxy recognizes its own ids. */
  readonly #scope = randomBytes(8).toString("hex");
  readonly #servers = new Map<string, { readonly server: InProcessServer; readonly stateless: StatelessServer }>();
  readonly #connections = new Map<string, { readonly serverId: string; readonly link: ServerLink }>();
  #opening = 0;

  constructor(peer: McpPeer, { dialect = "official" }: McpOverAcpOptions = {}) {
    this.#peer = peer;
    this.#dialect = dialect;
  }

  /** Available immediately: an agent may use the server before it answers the request that declares it. */
  serve(server: InProcessServer): ServedServer {
    const serverId = `acp:${this.#scope}-${randomUUID()}`;
    this.#servers.set(serverId, { server, stateless: new StatelessServer(server) });
    return {
      declaration: toDeclaration(server.name, serverId, this.#dialect),
      [Symbol.asyncDispose]: () => this.#remove(serverId),
    };
  }

  /** True if the message is for a server or connection of this object, even one that is closed. */
  handles({ method, params }: Pick<IncomingNotification, "method" | "params">): boolean {
    const envelope = openEnvelope(method, params);
    return envelope !== undefined && getTargetId(envelope).replace(/^acp:/, "").startsWith(`${this.#scope}-`);
  }

  async request({ method, params, signal }: Pick<IncomingRequest, "method" | "params" | "signal">): Promise<unknown> {
    if (!isMcpMethod(method)) throw methodNotFound(method);
    const envelope = openEnvelope(method, params);
    if (envelope === undefined) throw invalidParams(`${method} lacks a required field`);
    switch (envelope.kind) {
      case "connect":
        return this.#connect(envelope, signal);
      case "disconnect":
        await this.#connection(envelope.connectionId).close();
        return {};
      case "message":
        return this.#ask(envelope, signal);
      case "call":
        return this.#call(envelope, signal);
    }
  }

  /** Drops notifications without a receiver, as JSON-RPC requires. */
  notification({ method, params }: Pick<IncomingNotification, "method" | "params">): void {
    const envelope = openEnvelope(method, params);
    if (envelope?.kind !== "message" && envelope?.kind !== "disconnect") return;
    const link = this.#connections.get(envelope.connectionId)?.link;
    if (envelope.kind === "message") link?.notify(envelope.inner.method, envelope.inner.params);
    else void link?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.keys()].map((serverId) => this.#remove(serverId)));
  }

  async #connect(
    { serverId, underscored }: Extract<Envelope, { kind: "connect" }>,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { server } = this.#served(serverId);
    if (this.#connections.size + this.#opening >= MAX_CONNECTIONS) {
      throw peerError(BINDING_ERRORS.limit, "too many MCP connections are open", { serverId });
    }
    const id = `${this.#scope}-${randomUUID()}`;
    this.#opening += 1;
    const opening = openStatefulConnection(server, this.#peer, {
      id,
      underscored,
      closed: () => this.#connections.delete(id),
    });
    try {
      const link = await raceCancellation(opening, signal).catch(throwBindingError);
      this.#served(serverId); // it may have been removed meanwhile
      this.#connections.set(id, { serverId, link });
    } catch (error) {
      opening.then((link) => link.close()).catch(() => undefined); // nobody knows of it
      throw error;
    } finally {
      this.#opening -= 1;
    }
    return underscored ? { connection_id: id } : { connectionId: id };
  }

  async #ask({ connectionId, inner }: Extract<Envelope, { kind: "message" }>, signal: AbortSignal): Promise<unknown> {
    const link = this.#connection(connectionId);
    const outcome = await link.request(inner.method, inner.params, { signal }).catch(throwBindingError);
    if ("error" in outcome) throw new PeerError(outcome.error);
    return outcome.result;
  }

  #call({ serverId, requestId, inner }: Extract<Envelope, { kind: "call" }>, signal: AbortSignal): Promise<unknown> {
    const notify = (method: string, params: unknown): void => {
      const message = { serverId, requestId, method, ...(params !== undefined && { params }) };
      this.#peer.notify("mcp/message", message).catch(() => undefined); // the connection has ended, and the request with it
    };
    return this.#served(serverId)
      .stateless.call({ requestId, ...inner, signal, notify })
      .catch(throwBindingError);
  }

  #served(serverId: string): { readonly server: InProcessServer; readonly stateless: StatelessServer } {
    const served = this.#servers.get(serverId);
    if (served === undefined) throw peerError(BINDING_ERRORS.unavailable, "there is no such MCP server", { serverId });
    return served;
  }

  #connection(connectionId: string): ServerLink {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) throw invalidParams(`there is no MCP connection ${connectionId}`);
    return connection.link;
  }

  async #remove(serverId: string): Promise<void> {
    const served = this.#servers.get(serverId);
    this.#servers.delete(serverId);
    const links = [...this.#connections.values()].filter((connection) => connection.serverId === serverId);
    await Promise.all([served?.stateless[Symbol.asyncDispose](), ...links.map(({ link }) => link.close())]);
  }
}

function toDeclaration(name: string, serverId: string, dialect: McpDialect): McpDeclaration {
  if (dialect === "official") return { type: "acp", name, serverId };
  return { type: "http", name, url: serverId, headers: [] };
}

function getTargetId(envelope: Envelope): string {
  return "serverId" in envelope ? envelope.serverId : envelope.connectionId;
}

/** Converts a failure of the server to an error of the binding. Error responses of the server pass unchanged. */
function throwBindingError(error: unknown): never {
  if (error instanceof PeerError) throw error;
  const message = error instanceof Error ? error.message : String(error);
  throw peerError(
    BINDING_ERRORS.failed,
    error instanceof ServerLinkClosed ? message : `the MCP server failed: ${message}`,
  );
}
