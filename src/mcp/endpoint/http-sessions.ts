/** The HTTP sessions of one MCP server. Each has its own transport and server instance. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { functionArgument, objectArgument, textArgument } from "../../domain/arguments.ts";
import type { InProcessServerSpec } from "../../domain/mcp.ts";

/** What is needed to open an in-process server. */
export type OpenableServer = Pick<InProcessServerSpec, "name" | "open">;

export const IN_PROCESS_SERVER = objectArgument({ name: textArgument, open: functionArgument });

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  /** Requests in progress, including the stream of a listening client. */
  open: number;
}

const MAX_SESSIONS = 64;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export class HttpSessions implements AsyncDisposable {
  readonly #server: OpenableServer;
  /** The most recently used session is last. */
  readonly #sessions = new Map<string, Session>();
  /** Includes transports that are not initialized yet. */
  readonly #transports = new Set<StreamableHTTPServerTransport>();
  #disposed = false;

  constructor(server: OpenableServer) {
    this.#server = server;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (id === undefined) return this.#begin(request, response);
    const session = this.#sessions.get(String(id));
    if (session === undefined) return void response.writeHead(404).end("there is no such session");
    this.#sessions.delete(String(id));
    this.#sessions.set(String(id), session);
    return serve(session, request, response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#transports].map((transport) => transport.close()));
  }

  /** Starts a session if the request is `initialize`. The transport rejects anything else. */
  async #begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await this.#makeRoom())) return void response.writeHead(503).end("too many sessions are open");
    const session: Session = { transport: await this.#transport(() => session), open: 0 };
    const { transport } = session;
    try {
      await (await this.#server.open()).connect(transport);
      if (this.#disposed) return await transport.close();
      await serve(session, request, response);
    } finally {
      if (transport.sessionId === undefined) await transport.close();
    }
  }

  async #transport(session: () => Session): Promise<StreamableHTTPServerTransport> {
    const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, session()),
      maxRequestBodySize: MAX_BODY_BYTES,
    });
    transport.onclose = () => {
      this.#transports.delete(transport);
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    this.#transports.add(transport);
    return transport;
  }

  /** Evicts a session without open requests. A client that still needs it gets 404 and starts a new session. */
  async #makeRoom(): Promise<boolean> {
    if (this.#transports.size < MAX_SESSIONS) return true;
    const idle = [...this.#sessions.values()].find(({ open }) => open === 0);
    await idle?.transport.close();
    return idle !== undefined;
  }
}

async function serve(session: Session, request: IncomingMessage, response: ServerResponse): Promise<void> {
  session.open += 1;
  response.once("close", () => {
    session.open -= 1;
  });
  await session.transport.handleRequest(request, response);
}
