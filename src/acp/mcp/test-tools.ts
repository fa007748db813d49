/** Test helpers: real MCP servers, in this process and on HTTP, and real MCP clients for every kind of declaration. */
/* eslint-disable @typescript-eslint/no-deprecated -- servers that speak nothing but SSE are declared to agents */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport as SseServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { z } from "zod";
import { deferred, type Deferred } from "../../stdx/index.ts";
import { builtEnvironment } from "../../testing/index.ts";
import type { InProcessServer, McpDeclaration } from "./declaration.ts";

export interface ToolServer extends InProcessServer {
  /** Number of connections opened so far. */
  readonly opened: number;
  readonly live: number;
  /** The server that was opened last. */
  readonly latest: McpServer | undefined;
  /** Resolves when the tool `hang` is called. */
  readonly hanging: Deferred<void>;
  readonly stopped: Deferred<void>;
}

/** Has tools that answer, report progress, ask the user, and hang until they are cancelled. */
export function toolServer(name = "tools"): ToolServer {
  const state = {
    name,
    opened: 0,
    live: 0,
    latest: undefined as McpServer | undefined,
    hanging: deferred(),
    stopped: deferred(),
    open() {
      const server = serverWithTools(state);
      state.opened += 1;
      state.live += 1;
      state.latest = server;
      server.server.onclose = () => (state.live -= 1);
      return server;
    },
  };
  return state;
}

function serverWithTools({ hanging, stopped }: Pick<ToolServer, "hanging" | "stopped">): McpServer {
  const server = new McpServer({ name: "tool-server", version: "1.0.0" }, { instructions: "Echo what you hear." });
  const said = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text }) => said(`echo ${text}`));
  server.registerTool("steps", {}, async ({ sendNotification, _meta }) => {
    for (let progress = 1; progress <= 2; progress += 1) {
      const params = { progressToken: _meta?.progressToken ?? "none", progress };
      await sendNotification({ method: "notifications/progress", params });
    }
    return said("two steps");
  });
  server.registerTool("ask", {}, async () => {
    const requestedSchema = { type: "object" as const, properties: { colour: { type: "string" as const } } };
    const { content } = await server.server.elicitInput({ message: "Which colour?", requestedSchema });
    return said(`they like ${String(content?.["colour"])}`);
  });
  server.registerTool("hang", {}, ({ signal }) => {
    hanging.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        stopped.resolve();
        reject(new Error("stopped"));
      });
    });
  });
  return server;
}

/** Connects a client to a declaration from `mcpServers`, as an agent does. */
export async function connectTo(declaration: McpDeclaration, home: string): Promise<Client> {
  const client = new Client({ name: "agent", version: "1.0.0" });
  await client.connect(clientTransport(declaration, home));
  return client;
}

function clientTransport(declaration: McpDeclaration, home: string): Transport {
  if ("command" in declaration) {
    const { command, args, env } = declaration as { command: string; args: string[]; env: Pair[] };
    const extra = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    return new StdioClientTransport({ command, args, env: builtEnvironment({ home, extra }), stderr: "ignore" });
  }
  const { type, url, headers } = declaration as { type: string; url: string; headers: Pair[] };
  const requestInit = { headers: headers.map(({ name, value }): [string, string] => [name, value]) };
  if (type === "sse") return new SseClientTransport(new URL(url), { requestInit });
  return new StreamableHTTPClientTransport(new URL(url), { requestInit });
}

interface Pair {
  readonly name: string;
  readonly value: string;
}

/** Calls the tool `echo` and returns its text. */
export async function echo(client: Client, text: string): Promise<unknown> {
  return getResultText(await client.callTool({ name: "echo", arguments: { text } }));
}

export function getResultText(result: unknown): unknown {
  return (result as { content: { text: string }[] }).content[0]?.text;
}

export interface HttpEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly http: Server;
}

export async function serveHttp(listener: RequestListener): Promise<HttpEndpoint> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    http,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** An MCP server with the SSE transport that preceded streamable HTTP. */
export function serveSse(server: InProcessServer): Promise<HttpEndpoint> {
  const transports = new Map<string, SseServerTransport>();
  return serveHttp((request, response) => {
    const id = new URL(request.url ?? "", "http://localhost").searchParams.get("sessionId");
    const known = transports.get(id ?? "");
    if (known !== undefined) return void known.handlePostMessage(request, response);
    const transport = new SseServerTransport("/messages", response);
    transports.set(transport.sessionId, transport);
    void Promise.resolve(server.open()).then((opened) => opened.connect(transport));
  });
}
