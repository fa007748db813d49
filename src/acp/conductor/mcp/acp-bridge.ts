/** Makes MCP servers that are declared over ACP available to an agent that cannot reach them that way. */
import { getSessionId } from "../../client/routing/request-params.ts";
import type { IncomingNotification, IncomingRequest, Verbatim } from "../../connection/incoming.ts";
import { PeerError, RPC } from "../../errors.ts";
import { isMcpMethod, SESSION_SETUP_METHODS, type InProcessServer, type McpPeer } from "../../mcp/index.ts";
import { advertises } from "../../mcp/declaration.ts";
import { openEnvelope, type InnerMessage } from "../../mcp/over-acp/envelope.ts";
import { SessionOffers } from "../../proxy/session-offers.ts";
import type { ProxiedRequest, ProxyHandler } from "../../proxy/relay.ts";
import { attachTransport } from "./attach-transport.ts";
import { openStatefulWire } from "./stateful-wire.ts";
import { listAcpDeclarations, replaceAcpServers, type AcpDeclaration } from "./acp-declaration.ts";
import { openStatelessWire } from "./stateless-wire.ts";
import type { WireHandlersById, OpenMcpWire, McpWireHandlers } from "./mcp-wire.ts";

export class AcpBridge implements AsyncDisposable {
  /** The component before the agent; servers are declared by it or by a component further towards the client. */
  readonly #peer: McpPeer;
  readonly #offers: SessionOffers;
  readonly #lines: WireHandlersById = new Map();

  constructor(peer: McpPeer, bridge?: readonly string[]) {
    this.#peer = peer;
    this.#offers = new SessionOffers({ bridge });
  }

  /** The handler for a request on its way to the agent. Undefined if the request passes through unchanged. */
  handler({ method, params }: IncomingRequest): ProxyHandler | undefined {
    if (method === "initialize") return (request) => this.#initialize(request);
    if (advertises(this.#offers.support, "acp")) return undefined;
    if (method === "session/close" || method === "session/delete") return (request) => this.#endSession(request);
    if (!SESSION_SETUP_METHODS.has(method) || listAcpDeclarations(params).length === 0) return undefined;
    return (request) => this.#setUp(request);
  }

  /** True if the message comes from a server that this bridge offers to the agent. */
  handles(message: IncomingNotification): boolean {
    return this.#line(message) !== undefined;
  }

  request(request: IncomingRequest): Promise<unknown> | undefined {
    const { handlers, inner } = this.#line(request) ?? {};
    return inner && handlers?.request(inner.method, inner.params, request.signal);
  }

  notification(notification: IncomingNotification): void {
    const { handlers, inner } = this.#line(notification) ?? {};
    if (inner !== undefined) handlers?.notification(inner.method, inner.params);
  }

  /** Call it when the agent answers no more. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#offers[Symbol.asyncDispose]();
  }

  async #initialize(request: ProxiedRequest): Promise<Verbatim> {
    const response = await request.forward();
    this.#offers.recordInitialize(response.result);
    return response;
  }

  #setUp(request: ProxiedRequest): Promise<Verbatim> {
    const servers = listAcpDeclarations(request.params).map((declaration) => this.#server(declaration));
    return this.#offers.offerAndSend(servers, async (declarations) => {
      const value = await request.forward(replaceAcpServers(request.params, declarations));
      const sessionId = getSessionId(value.result) ?? getSessionId(request.params);
      return { value, sessionId: value.error === undefined ? sessionId : undefined };
    });
  }

  async #endSession(request: ProxiedRequest): Promise<Verbatim> {
    const response = await request.forward();
    const sessionId = getSessionId(request.params);
    if (sessionId !== undefined && response.error === undefined) this.#offers.closeServers(sessionId);
    return response;
  }

  #server(declaration: AcpDeclaration): InProcessServer {
    const { name } = declaration;
    return { name, open: () => ({ connect: (transport) => attachTransport(transport, this.#open(declaration)) }) };
  }

  /** Tries the current protocol first, then the stateful one that preceded it. */
  #open(declaration: AcpDeclaration): OpenMcpWire {
    const connect = openStatefulWire(declaration, this.#peer, this.#lines);
    if (declaration.underscored) return connect;
    const call = openStatelessWire(declaration, this.#peer, this.#lines);
    return (handlers) =>
      call(handlers).catch((error: unknown) => {
        if (error instanceof PeerError && error.code === RPC.methodNotFound) return connect(handlers);
        throw error;
      });
  }

  #line(message: IncomingNotification): { handlers: McpWireHandlers; inner: InnerMessage } | undefined {
    const envelope = isMcpMethod(message.method) ? openEnvelope(message.method, message.params) : undefined;
    if (envelope?.kind !== "message" && envelope?.kind !== "call") return undefined;
    const handlers = this.#lines.get(envelope.kind === "message" ? envelope.connectionId : envelope.requestId);
    return handlers && { handlers, inner: envelope.inner };
  }
}
