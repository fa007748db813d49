/** MCP servers over HTTP on a real port, and a fake authorizer. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { LoginOutcome, RemoteServerSpec } from "../domain/index.ts";
import { LoginNeeded, type Authorizer } from "./index.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Has no token before a successful login, unless `isIn` is true. */
export function fakeAuthorizer(
  outcome: LoginOutcome,
  isIn = false,
): { authorizer: Authorizer; asked(): number; revoke(): void } {
  let [hasToken, asked] = [isIn, 0];
  return {
    asked: () => asked,
    revoke: () => void (hasToken = false),
    authorizer: {
      fetch: (url, init) => (hasToken ? fetch(url, init) : Promise.reject(new LoginNeeded("web", "there is no token"))),
      async login() {
        asked += 1;
        hasToken = outcome.status === "done";
        return outcome;
      },
      logout: async () => true,
    },
  };
}

export function greeter(): McpServer {
  const server = new McpServer({ name: "greeter", version: "1" });
  const says = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("greet", {}, () => says("hello"));
  server.registerTool("hang", {}, () => new Promise<never>(() => undefined));
  server.registerTool("big", {}, () => says("x".repeat(12 * 1024 * 1024)));
  return server;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

export async function streamable(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  if (known !== undefined) return known.handleRequest(request, response);
  if (id !== undefined) return void response.writeHead(404).end();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (session) => void sessions.set(session, transport),
  });
  await greeter().connect(transport);
  await transport.handleRequest(request, response);
}

export interface Web extends AsyncDisposable {
  readonly spec: RemoteServerSpec;
  /** POST requests after initialization. */
  calls(): number;
  restart(): Promise<void>;
}

export async function serveHttp(handler: Handler): Promise<Web> {
  let posts = 0;
  const server = createServer((request, response) => {
    if (request.method === "POST" && request.headers["mcp-session-id"] !== undefined) posts += 1;
    void handler(request, response);
  });
  const up = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const down = (): Promise<unknown> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    return closed;
  };
  await up(0);
  const { port } = server.address() as AddressInfo;
  return {
    spec: { type: "http", name: "web", url: `http://127.0.0.1:${port}/mcp`, headers: {} },
    calls: () => posts - 2, // initialization and the tool list
    async restart() {
      await down();
      sessions.clear();
      await up(port);
    },
    async [Symbol.asyncDispose]() {
      await down();
    },
  };
}
