import { setImmediate as tick } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DisposeStack } from "../../stdx/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { Connection, transportPair } from "../index.ts";
import { BRIDGE_VARIABLE } from "./bridge-target.ts";
import type { McpDeclaration, McpSupport, RemoteDeclaration } from "./declaration.ts";
import { LoopbackHttp } from "../../mcp/endpoint/loopback.ts";
import { remoteDeclaration } from "./spec.ts";
import { offerServers } from "./offer.ts";
import { McpOverAcp } from "./over-acp/provider.ts";
import { META_KEYS, MCP_REVISION } from "./over-acp/revision.ts";
import { connectTo, echo, serveSse, getResultText, toolServer } from "./test-tools.ts";

const REFUSING = { bridge: ["/nowhere"] };

let scene: DisposeStack;
let home: string;

beforeEach(async () => {
  scene = new DisposeStack();
  home = scene.use(await temporaryFolder()).path;
});
afterEach(() => scene[Symbol.asyncDispose]());

describe("a declaration", () => {
  it.each<[string, McpDeclaration]>([
    ["of a program", { name: "a", command: "/bin/a", args: ["x"], env: [{ name: "K", value: "v" }], _meta: { m: 1 } }],
    ["of a type nobody knows", { type: "_carrier-pigeon", name: "p", coop: { level: 3 } }],
    ["over ACP", { type: "acp", name: "far", serverId: "someone-else" }],
    ["with an address of another kind", { type: "http", name: "old", url: "acp:1234", headers: [] }],
  ])("%s is passed on unchanged", async (_, declaration) => {
    await using offer = await offerServers([declaration], REFUSING);
    expect(offer.mcpServers).toEqual([declaration]);
    expect(offer.mcpServers[0]).toBe(declaration);
  });

  it.each<[McpSupport]>([[{ http: true, sse: true }], [{ http: {}, sse: {} }]])(
    "of a remote server is passed on to an agent that advertises %j",
    async (support) => {
      const declarations: McpDeclaration[] = [
        { type: "http", name: "a", url: "https://a.invalid/mcp", headers: [{ name: "X", value: "1" }] },
        { type: "sse", name: "b", url: "https://b.invalid/sse", headers: [] },
      ];
      await using offer = await offerServers(declarations, { support, ...REFUSING });
      expect(offer.mcpServers).toEqual(declarations);
    },
  );

  it.each<[string, McpSupport | null | undefined]>([
    ["nothing", undefined],
    ["null", null],
    ["false", { http: false, sse: false }],
    ["a text", { http: "true", sse: "yes" }],
  ])("of a remote server goes through the bridge if the agent advertises %s", async (_, support) => {
    const server = toolServer();
    const http = remoteDeclaration(scene.use(await LoopbackHttp.listen()).serve(server).spec);
    const sse = { type: "sse", name: "sse", url: scene.use(await serveSse(server)).url, headers: [] } as const;
    await using offer = await offerServers(
      [
        { ...http, name: "http", _meta: { kept: true } },
        { ...sse, headers: [] },
      ],
      {
        support,
      },
    );
    expect(offer.mcpServers).toMatchObject([
      { name: "http", command: process.execPath, _meta: { kept: true } },
      { name: "sse", command: process.execPath },
    ]);
    for (const declaration of offer.mcpServers) {
      const client = await connectTo(declaration, home);
      expect(await echo(client, "hi")).toBe("echo hi");
      await client.close();
    }
  });
});

describe("a server in this process", () => {
  it("is offered over ACP if the agent supports that", async () => {
    const server = toolServer();
    const { overAcp, agent } = connected();
    await using offer = await offerServers([server], { support: { acp: true, http: true }, overAcp, ...REFUSING });
    expect(offer.mcpServers).toEqual([{ type: "acp", name: "tools", serverId: expect.any(String) }]);
    const { serverId } = offer.mcpServers[0] as { serverId: string };
    const _meta = { [META_KEYS.protocolVersion]: MCP_REVISION, [META_KEYS.clientCapabilities]: {} };
    const params = { name: "echo", arguments: { text: "hi" }, _meta };
    const outcome = await agent.request("mcp/message", { serverId, requestId: "1", method: "tools/call", params });
    expect(getResultText((outcome as { result: unknown }).result)).toBe("echo hi");
  });

  it.each<[string, McpSupport, boolean]>([
    ["http and no acp", { http: true }, true],
    ["acp, but nobody serves it on the connection", { http: true, acp: true }, false],
  ])("is offered over loopback HTTP to an agent that supports %s", async (_, support, serves) => {
    const server = toolServer();
    const overAcp = serves ? connected().overAcp : undefined;
    await using offer = await offerServers([server], { support, overAcp, ...REFUSING });
    expect(offer.mcpServers).toMatchObject([{ type: "http", name: "tools", headers: [{ name: "Authorization" }] }]);
    expect((offer.mcpServers[0] as RemoteDeclaration).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
    const clients = await Promise.all([1, 2].map(() => connectTo(offer.mcpServers[0]!, home)));
    for (const client of clients) expect(await echo(client, "hi")).toBe("echo hi");
    expect(server.opened).toBe(2);
    for (const client of clients) await client.close();
  });

  it("is offered through the bridge if the agent supports only stdio", async () => {
    const server = toolServer();
    await using offer = await offerServers([server], { support: {} });
    expect(offer.mcpServers).toMatchObject([{ name: "tools", command: process.execPath }]);
    const clients = await Promise.all([1, 2].map(() => connectTo(offer.mcpServers[0]!, home)));
    for (const client of clients) expect(await echo(client, "hi")).toBe("echo hi");
    for (const client of clients) await client.close();
  });

  it("passes its token to the bridge in a variable, because arguments are visible to others", async () => {
    await using offer = await offerServers([toolServer()], { bridge: ["/bin/bridge", "acp", "mcp-bridge"] });
    const { command, args, env } = offer.mcpServers[0] as {
      command: string;
      args: string[];
      env: { name: string; value: string }[];
    };
    expect([command, ...args]).toEqual(["/bin/bridge", "acp", "mcp-bridge"]);
    expect(env.map(({ name }) => name)).toEqual([BRIDGE_VARIABLE]);
    expect(JSON.parse(env[0]!.value)).toMatchObject({ type: "http", headers: [{ name: "Authorization" }] });
  });
});

it("offers every server in the given order", async () => {
  const given = [
    { name: "one", command: "/bin/one", args: [], env: [] },
    toolServer("two"),
    { type: "later", name: "three" },
    toolServer("four"),
  ];
  await using offer = await offerServers(given, { support: { http: true } });
  expect(offer.mcpServers.map((server) => (server as { name: string }).name)).toEqual(["one", "two", "three", "four"]);
});

it("refuses two servers with the same name", async () => {
  await expect(offerServers([toolServer("x"), { type: "later", name: "x" }])).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining('"x"'),
  });
});

it("closes what it opened if a later server cannot be offered", async () => {
  const sockets = await listening();
  const remote = { type: "http", name: "b", url: "http://b.invalid", headers: [] } as const;
  const unreadable = { ...remote, headers: [null] as never[] };
  await expect(offerServers([toolServer(), unreadable])).rejects.toThrow();
  expect(await listening()).toBe(sockets);
});

describe("disposing an offer", () => {
  it("stops the HTTP server, its connections and the servers in this process", async () => {
    const server = toolServer();
    const sockets = await listening();
    const offer = await offerServers([server], { support: { http: true } });
    const client = await connectTo(offer.mcpServers[0]!, home);
    const broken = new Promise<void>((resolve) => (client.onerror = () => resolve()));
    const call = client.callTool({ name: "hang" }).catch((error: unknown) => error);
    await server.hanging.promise;
    expect(await listening()).toBe(sockets + 1);
    await offer[Symbol.asyncDispose]();
    await server.stopped.promise;
    expect(server.live).toBe(0);
    expect(await listening()).toBe(sockets);
    await broken;
    await expect(fetch((offer.mcpServers[0] as RemoteDeclaration).url)).rejects.toThrow();
    await client.close();
    expect(await call).toBeInstanceOf(Error);
    await offer[Symbol.asyncDispose]();
  });

  it("stops the bridge that an agent has started", async () => {
    const offer = await offerServers([toolServer()]);
    const client = await connectTo(offer.mcpServers[0]!, home);
    expect(await echo(client, "hi")).toBe("echo hi");
    const closed = new Promise<void>((resolve) => (client.onclose = resolve));
    await offer[Symbol.asyncDispose]();
    await closed;
  });

  it("stops servers offered over ACP and reports that to an agent that asks again", async () => {
    const server = toolServer();
    const { overAcp, agent } = connected();
    const offer = await offerServers([server], { support: { acp: true }, overAcp });
    const { serverId } = offer.mcpServers[0] as { serverId: string };
    await agent.request("mcp/connect", { serverId });
    expect(server.live).toBe(1);
    await offer[Symbol.asyncDispose]();
    expect(server.live).toBe(0);
    await expect(agent.request("mcp/connect", { serverId })).rejects.toMatchObject({ code: -33001 });
  });
});

/** A client that serves MCP over ACP, and the agent at the other end. */
function connected() {
  const [near, far] = transportPair();
  const client: Connection = new Connection({
    transport: near,
    handlers: {
      request: (request) => overAcp.request(request),
      notification: (notification) => overAcp.notification(notification),
    },
  });
  const overAcp = new McpOverAcp(client);
  const agent = scene.use(new Connection({ transport: far }));
  scene.use(client);
  return { overAcp, agent };
}

/** The number of sockets that this process listens on. */
async function listening(): Promise<number> {
  await tick(); // a socket counts until the next turn of the event loop
  return process.getActiveResourcesInfo().filter((resource) => resource === "TCPServerWrap").length;
}
