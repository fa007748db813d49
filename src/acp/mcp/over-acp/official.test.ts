import { Readable, Writable, PassThrough } from "node:stream";
import {
  agent as officialAgent,
  McpOverAcpCaller,
  ndJsonStream,
  type McpServer,
} from "@agentclientprotocol/sdk/unstable";
import { McpOverAcpHttpBridge } from "@agentclientprotocol/sdk/experimental/mcp-http";
import { expect, it } from "vitest";
import { Connection, streamTransport } from "../../index.ts";
import { toolServer } from "../test-tools.ts";
import { offerServers } from "../offer.ts";
import { McpOverAcp } from "./provider.ts";
import { META_KEYS, MCP_REVISION } from "./revision.ts";

/** An agent made with the official SDK that calls a tool during session setup and records what it hears. */
function connectToOfficialAgent() {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const caller = new McpOverAcpCaller();
  const http = new McpOverAcpHttpBridge(caller);
  const heard: unknown[] = [];
  officialAgent({ name: "official" })
    .onNotification("mcp/message", caller.handleNotification)
    .onRequest("session/new", async ({ params, client }) => {
      const [server] = params.mcpServers as (McpServer & { serverId: string })[];
      const { serverId } = server!;
      heard.push(await caller.request(client, serverId, "server/discover"));
      const onNotification = (notification: unknown): void => void heard.push(notification);
      const steps = { name: "steps", _meta: { progressToken: "p" } };
      heard.push(await caller.request(client, serverId, "tools/call", steps, { onNotification }));
      heard.push(await overHttp(await http.toHttp(client, server as never)));
      return { sessionId: "s" };
    })
    .connect(ndJsonStream(Writable.toWeb(fromAgent), Readable.toWeb(toAgent)));
  const connection: Connection = new Connection({
    transport: streamTransport(fromAgent, toAgent),
    handlers: {
      request: (request) => overAcp.request(request),
      notification: (notification) => overAcp.notification(notification),
    },
  });
  const overAcp = new McpOverAcp(connection);
  return { connection, overAcp, heard };
}

it("serves an agent of the official SDK, directly and through its HTTP adapter", async () => {
  const server = toolServer();
  const { connection, overAcp, heard } = connectToOfficialAgent();
  await using offer = await offerServers([server], { support: { acp: true }, overAcp });
  const params = { cwd: "/", mcpServers: offer.mcpServers };
  expect(await connection.request("session/new", params)).toEqual({ sessionId: "s" });
  expect(heard).toMatchObject([
    { result: { supportedVersions: [MCP_REVISION], resultType: "complete" } },
    { method: "notifications/progress", params: { progressToken: "p", progress: 1 } },
    { method: "notifications/progress", params: { progressToken: "p", progress: 2 } },
    { result: { content: [{ text: "two steps" }] } },
    { result: { content: [{ text: "echo over http" }] } },
  ]);
  await connection.close();
});

async function overHttp({
  url,
  headers,
}: {
  url: string;
  headers: { name: string; value: string }[];
}): Promise<unknown> {
  const _meta = { [META_KEYS.protocolVersion]: MCP_REVISION, [META_KEYS.clientCapabilities]: {} };
  const params = { name: "echo", arguments: { text: "over http" }, _meta };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": MCP_REVISION,
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return response.json();
}
