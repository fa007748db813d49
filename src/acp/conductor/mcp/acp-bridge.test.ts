import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import type { AcpScript } from "../../../testing/acp-agent/index.ts";
import { methodNotFound, type McpDialect, type ProxyOptions } from "../../index.ts";
import { getResultText, toolServer } from "../../mcp/test-tools.ts";
import { conducted, type Sides } from "../../proxy/test-sides.ts";
import { settle, type Message } from "../test-line-client.ts";

const taking = (...kinds: ("acp" | "http")[]): AcpScript => ({
  initialize: {
    agentCapabilities: { mcpCapabilities: { acp: kinds.includes("acp"), http: kinds.includes("http"), sse: false } },
  },
});
const call = (server: string) => ({ callMcp: { server, tool: "echo", arguments: { text: "hi" } } });

/** Components before this proxy believe that the agent supports MCP over ACP, as some third-party proxies assume. */
const pretends: ProxyOptions = {
  fromClient: {
    initialize: async (request) => {
      const { result } = await request.forward();
      return { ...(result as object), agentCapabilities: { mcpCapabilities: { acp: true } } };
    },
  },
};
/** The declaring side supports only stateful connections. */
const refusesStateless: ProxyOptions["fromAgent"] = {
  "mcp/message": (request) => {
    if ("serverId" in (request.params as object)) throw methodNotFound(request.method);
    return request.forward();
  },
};

type Way = readonly [way: string, dialect: McpDialect, pretender: ProxyOptions];
const WAYS: readonly Way[] = [
  ["with stateless requests", "official", pretends],
  ["with stateful connections", "official", { ...pretends, fromAgent: refusesStateless }],
  ["with stateful connections of the Rust SDK", "rust", pretends],
];

async function begin({ client }: Sides, params: object = {}): Promise<string> {
  await client.request("initialize", { protocolVersion: 1 });
  return client.newSession(params);
}

interface OfferedServer {
  readonly type?: string;
  readonly name: string;
  readonly url: string;
  readonly headers: { readonly name: string; readonly value: string }[];
}

async function listOfferedServers({ agent }: Sides): Promise<OfferedServer[]> {
  return (await agent.receivedMethod("session/new"))["mcpServers"] as OfferedServer[];
}

describe.each(WAYS)("a server that a proxy declares over ACP and serves %s", (_, mcpDialect, pretender) => {
  it.each([
    ["over HTTP", ["http"] as const, { type: "http" }],
    ["through a program", [] as const, { command: process.execPath }],
  ])("is available to an agent that reaches servers %s", async (_how, kinds, declaration) => {
    const theirs = { name: "theirs", command: "/theirs", args: [], env: [] };
    await using sides = conducted(
      { ...taking(...kinds), otherwise: [call("tools")] },
      { mcpServers: [toolServer()], mcpDialect },
      pretender,
    );
    const sessionId = await begin(sides, { mcpServers: [theirs] });
    expect(await listOfferedServers(sides)).toMatchObject([theirs, { name: "tools", ...declaration }]);
    await sides.client.answerTo(sides.client.prompt(sessionId));
    expect(sides.client.text).toBe("tools.echo: echo hi");
  });

  it("reports progress and is cancelled when the agent cancels a call", async () => {
    const server = toolServer();
    await using sides = conducted(taking("http"), { mcpServers: [server], mcpDialect }, pretender);
    await begin(sides);
    const client = await connect(sides);
    expect(client.getServerVersion()).toMatchObject({ name: "tool-server" });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    const progress: number[] = [];
    const onprogress = (step: { progress: number }) => progress.push(step.progress);
    expect(getResultText(await client.callTool({ name: "steps" }, undefined, { onprogress }))).toBe("two steps");
    expect(progress).toEqual([1, 2]);
    await expect(client.callTool({ name: "missing" })).resolves.toMatchObject({ isError: true });
    await client.ping();
    const controller = new AbortController();
    const hanging = client.callTool({ name: "hang" }, undefined, { signal: controller.signal }).catch(String);
    await server.hanging.promise;
    controller.abort();
    await server.stopped.promise;
    await hanging;
    await client.close();
  });

  it("is unreachable after the session is closed", async () => {
    const server = toolServer();
    await using sides = conducted(taking("http"), { mcpServers: [server], mcpDialect }, pretender);
    const sessionId = await begin(sides);
    const client = await connect(sides);
    await client.callTool({ name: "echo", arguments: { text: "x" } });
    await sides.client.request("session/close", { sessionId });
    const [declared] = await listOfferedServers(sides);
    const url = declared?.url ?? "";
    for (let looks = 0; looks < 50 && (await reachable(url)); looks += 1) await settle();
    expect(await reachable(url)).toBe(false);
    await client.close().catch(() => undefined);
  });
});

it.each(WAYS.slice(1))("lets a server that is served %s ask the agent", async (_, mcpDialect, pretender) => {
  await using sides = conducted(taking("http"), { mcpServers: [toolServer()], mcpDialect }, pretender);
  await begin(sides);
  const client = await connect(sides);
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { colour: "blue" } }));
  expect(getResultText(await client.callTool({ name: "ask" }))).toBe("they like blue");
  await client.close();
});

it("passes the declaration on unchanged if the agent supports MCP over ACP", async () => {
  await using sides = conducted({ ...taking("acp"), otherwise: [call("tools")] }, { mcpServers: [toolServer()] });
  const sessionId = await begin(sides);
  expect(await listOfferedServers(sides)).toMatchObject([{ type: "acp", name: "tools" }]);
  await sides.client.answerTo(sides.client.prompt(sessionId));
  expect(sides.client.text).toBe("tools.echo: echo hi");
});

it("fails calls to a server that nobody answers for, and the session continues", async () => {
  const lost = { type: "acp", name: "lost", serverId: "acp:nobody" };
  await using sides = conducted({ ...taking("http"), otherwise: [call("lost"), { say: "on" }] }, {});
  const prompt = sides.client.prompt(await begin(sides, { mcpServers: [lost] }));
  for (const asked of ["mcp/message", "mcp/connect"]) {
    const { id } = await sides.client.called(asked);
    sides.client.send({ id, error: { code: -32_601, message: "no such thing" } });
  }
  await sides.client.answerTo(prompt);
  expect(sides.client.text).toMatch(/^lost\.echo failed: .*\|on$/);
});

it.each([
  ["mcp", { type: "acp", name: "tools", serverId: "x" }, { serverId: "x" }, { connectionId: "c" }],
  ["_mcp", { type: "acp", name: "tools", id: "x" }, { acp_id: "x", acp_url: "x" }, { connection_id: "c" }],
  ["_mcp", { type: "http", name: "tools", url: "acp:x", headers: [] }, { acp_id: "acp:x" }, { connection_id: "c" }],
])(
  "speaks %s/* to the side that declared a server as %o and disconnects when the session is closed",
  async (area, server, asked, id) => {
    await using sides = conducted(taking("http"), {});
    const { client } = sides;
    const answer = async (method: string, how: object): Promise<unknown> => {
      const { id: asking, params } = await client.called(method);
      client.send({ id: asking, ...how });
      return params;
    };
    const sessionId = await begin(sides, { mcpServers: [server] });
    const connecting = connect(sides);
    if (area === "mcp") await answer("mcp/message", { error: { code: -32_601, message: "no" } });
    expect(await answer(`${area}/connect`, { result: id })).toMatchObject(asked);
    const said = (inner: string): Promise<Message> =>
      client.first(
        ({ params }) => JSON.stringify(params ?? "").startsWith(`{"connectionId":"c","method":"${inner}"`),
        inner,
      );
    const message = await said("initialize");
    expect(message.method).toBe(`${area}/message`);
    const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
    client.send({ id: message.id, result });
    const agent = await connecting;
    await said("notifications/initialized");
    const calling = agent.callTool({ name: "x" }).catch(String);
    const called = await said("tools/call");
    await client.request("session/close", { sessionId });
    expect((await client.called("$/cancel_request")).params).toEqual({ requestId: called.id });
    expect((await client.called(`${area}/disconnect`)).params).toEqual(id);
    await agent.close().catch(() => undefined);
    await calling;
  },
);

/** Connects as the agent would. */
async function connect(sides: Sides): Promise<Client> {
  const [declared] = await listOfferedServers(sides);
  const { url, headers } = declared ?? { url: "", headers: [] };
  const client = new Client({ name: "agent", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  const requestInit = { headers: headers.map(({ name, value }): [string, string] => [name, value]) };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

async function reachable(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
