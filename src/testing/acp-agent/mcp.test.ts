import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { client, McpOverAcpProvider, methods, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, it } from "vitest";
import type { AcpStep } from "./steps/steps.ts";
import { startAcpAgent } from "./index.ts";
import { open, type Params } from "./test-client.ts";

/** A complete MCP server without outer references, so that its source text is also a program. */
function answer({ id, method, params = {} }: Call): { id: unknown; result: Params } | undefined {
  const info = { name: "tools", version: "1" };
  const { a = 0, b = 0 } = params.arguments ?? {};
  const sum = { content: [{ type: "text", text: `${a + b}${process.env["UNIT"] ?? ""}` }] };
  const failure = { content: [{ type: "text", text: "no such luck" }], isError: true };
  const results: Record<string, Params> = {
    initialize: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: info },
    "tools/list": { tools: ["add", "fail"].map((name) => ({ name, inputSchema: { type: "object" } })) },
    "tools/call": params.name === "add" ? sum : failure,
  };
  return id === undefined ? undefined : { id, result: results[method] ?? {} };
}

interface Call {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: { protocolVersion?: string; name?: string; arguments?: { a?: number; b?: number } };
}

const ON_STDIO = `${answer.toString()}
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const response = answer(JSON.parse(line));
    if (response !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", ...response }));
  });
`;

const ADD = { callMcp: { server: "tools", tool: "add", arguments: { a: 40, b: 2 } } };
const EVERY_USE: AcpStep[] = [
  { callMcp: { server: "tools" } },
  ADD,
  { callMcp: { server: "tools", tool: "fail" } },
  { callMcp: { server: "absent", tool: "add" } },
];
const EVERY_RESULT = [
  "tools: add, fail",
  "tools.add: 42",
  "tools.fail: error: no such luck",
  "absent.add failed: the session has no MCP server absent",
];

describe("a scripted agent calls its MCP servers", () => {
  it("over stdio, with the given variables", async () => {
    await using scene = open({ prompts: [[...EVERY_USE.slice(0, 1), ADD]] });
    const env = [{ name: "UNIT", value: " apples" }];
    const server = { name: "tools", command: process.execPath, args: ["-e", ON_STDIO], env };
    const sessionId = await scene.client.newSession({ mcpServers: [server] });
    await scene.client.prompt(sessionId);
    expect(scene.client.text()).toBe("tools: add, fail|tools.add: 42 apples");
  });

  it("over HTTP, with the given headers", async () => {
    const seen = new Set<unknown>();
    await using http = await listening(async (request) => {
      seen.add(request.headers["x-token"]);
      return answer(JSON.parse(await text(request)) as Call);
    });
    await using scene = open({ prompts: [EVERY_USE] });
    const headers = [{ name: "x-token", value: "of a test" }];
    const sessionId = await scene.client.newSession({
      mcpServers: [{ type: "http", name: "tools", url: http.url, headers }],
    });
    await scene.client.prompt(sessionId);
    expect(scene.client.text().split("|")).toEqual(EVERY_RESULT);
    expect([...seen]).toEqual(["of a test"]);
  });

  it("and says the error if a server is unreachable", async () => {
    await using scene = open({ prompts: [[ADD]] });
    const server = { name: "tools", command: "/nowhere/at/all", args: [], env: [] };
    const sessionId = await scene.client.newSession({ mcpServers: [server] });
    expect((await scene.client.prompt(sessionId)).result).toEqual({ stopReason: "end_turn" });
    expect(scene.client.text()).toMatch(/^tools\.add failed: .*ENOENT/);
  });

  it("over stateless ACP, as the official SDK provides it", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    await using agent = startAcpAgent({ script: { prompts: [EVERY_USE] }, input, output });
    const provider = new McpOverAcpProvider();
    const said: string[] = [];
    const app = client({ name: "tester" })
      .onRequest(methods.client.mcp.message, provider.handleRequest)
      .onNotification("session/update", ({ params: { update } }) => {
        if ("content" in update) said.push((update.content as { text: string }).text);
      });
    const connection = app.connect(
      ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>),
    );
    const { declaration } = provider.registerServer(connection.agent, {
      name: "tools",
      handler: ({ method, params }) => ({ result: answer({ id: 1, method, params: params ?? {} })?.result }),
    });
    await connection.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const session = await connection.agent.buildSession({ cwd: "/project", mcpServers: [declaration] }).start();
    await connection.agent.request("session/prompt", { sessionId: session.sessionId, prompt: [] });
    expect(said).toEqual(EVERY_RESULT);
    expect(agent.problems).toEqual([]);
    connection.close();
  });

  const inner = (params: Params): Params => answer({ ...(params as unknown as Call), id: 1 })?.result ?? {};

  it("over ACP connections, which it closes", async () => {
    const answers = {
      "mcp/connect": ({ serverId }: Params) => ({ connectionId: `to ${String(serverId)}` }),
      "mcp/message": inner,
      "mcp/disconnect": {},
    };
    await using scene = open({ prompts: [[{ callMcp: { ...ADD.callMcp, dialect: "stateful" } }]] }, answers);
    const mcpServers = [{ type: "acp", name: "tools", serverId: "s" }];
    await scene.client.prompt(await scene.client.newSession({ mcpServers }));
    expect(scene.client.text()).toBe("tools.add: 42");
    expect(mcpTraffic(scene.client.messages)).toEqual([
      ["mcp/connect", { serverId: "s" }],
      ["mcp/message", { connectionId: "to s", method: "initialize" }],
      ["mcp/message", { connectionId: "to s", method: "notifications/initialized" }],
      ["mcp/message", { connectionId: "to s", method: "tools/call" }],
      ["mcp/disconnect", { connectionId: "to s" }],
    ]);
  });

  it("over the underscored ACP methods, for a server with an acp: URL", async () => {
    const answers = { "_mcp/connect": { connection_id: "c" }, "_mcp/message": inner };
    await using scene = open({ prompts: [[ADD]] }, answers);
    const mcpServers = [{ type: "http", name: "tools", url: "acp:one", headers: [] }];
    await scene.client.prompt(await scene.client.newSession({ mcpServers }));
    expect(scene.client.text()).toBe("tools.add: 42");
    expect(mcpTraffic(scene.client.messages)).toEqual([
      ["_mcp/connect", { acp_id: "acp:one" }],
      ["_mcp/message", { connectionId: "c", method: "initialize" }],
      ["_mcp/message", { connectionId: "c", method: "notifications/initialized" }],
      ["_mcp/message", { connectionId: "c", method: "tools/call" }],
      ["_mcp/disconnect", { connection_id: "c" }],
    ]);
  });
});

/** Returns the messages without the params of the inner messages. */
function mcpTraffic(messages: readonly { method?: string; params?: Params }[]): unknown[] {
  return messages
    .filter(({ method }) => method?.includes("mcp/") === true)
    .map(({ method, params: { params: _, ...outer } = {} }) => [method, outer]);
}

async function listening(handle: (request: IncomingMessage) => Promise<object | undefined>) {
  const server = createServer((request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    handle(request).then(
      (result) =>
        result === undefined
          ? response.writeHead(202).end()
          : response
              .writeHead(200, { "content-type": "application/json" })
              .end(JSON.stringify({ jsonrpc: "2.0", ...result })),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
