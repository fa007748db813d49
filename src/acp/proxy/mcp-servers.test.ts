import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { AcpScript } from "../../testing/acp-agent/index.ts";
import { settle } from "../conductor/test-line-client.ts";
import type { InProcessServer, McpDeclaration, ProxyOptions } from "../index.ts";
import { toolServer } from "../mcp/test-tools.ts";
import { conducted, direct, type Sides } from "./test-sides.ts";

const ALL_SET_UPS = ["session/new", "session/load", "session/resume", "session/fork"];
const SET_UPS = process.env["ROOKERY_SLOW"] === "1" ? ALL_SET_UPS : ALL_SET_UPS.slice(0, 1);
const SETTING_UP = { cwd: "/project", sessionId: "stored", mcpServers: [] };
const THEIRS = { name: "tools", command: "/theirs", args: [], env: [], _meta: { kept: [null] } };

const taking = (...kinds: ("acp" | "http")[]): AcpScript => ({
  initialize: {
    agentCapabilities: { mcpCapabilities: { acp: kinds.includes("acp"), http: kinds.includes("http"), sse: false } },
  },
  sessions: [{ sessionId: "stored", cwd: "/project" }],
});
const call = (server: string, tool = "echo") => ({ callMcp: { server, tool, arguments: { text: "hi" } } });

/** The servers that the agent got in the request. */
async function listOfferedServers(
  { agent }: Sides,
  method: string,
): Promise<(McpDeclaration & { name?: string; url?: string })[]> {
  return (await agent.receivedMethod(method))["mcpServers"] as McpDeclaration[];
}

async function introduce({ client }: Sides): Promise<void> {
  await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
}

describe.each([
  ["between two transports", direct],
  ["in a conductor's chain", conducted],
])("the servers of a proxy %s", (_, open) => {
  describe.each(SET_UPS)("are added to %s", (method) => {
    it.each([
      ["over ACP", ["acp", "http"] as const, { type: "acp" }],
      ["over HTTP", ["http"] as const, { type: "http" }],
      ["through a program", [] as const, { command: process.execPath }],
    ])("in a form that the agent supports, next to the client's servers: %s", async (_how, kinds, declaration) => {
      const server = toolServer("own");
      const script = { ...taking(...kinds), otherwise: [call("own")] };
      await using sides = open(script, { mcpServers: [server] });
      await introduce(sides);
      const { result } = await sides.client.request(method, { ...SETTING_UP, mcpServers: [THEIRS], extra: "kept" });
      expect(await sides.agent.receivedMethod(method)).toMatchObject({
        cwd: "/project",
        extra: "kept",
        mcpServers: [THEIRS, { name: "own", ...declaration }],
      });
      const { sessionId = "stored" } = result as { sessionId?: string };
      await sides.client.answerTo(sides.client.prompt(sessionId));
      expect(sides.client.text).toBe("own.echo: echo hi");
    });
  });

  it("are renamed if the client has a server with the same name", async () => {
    await using sides = open({ ...taking(), otherwise: [call("tools-2")] }, { mcpServers: [toolServer("tools")] });
    await introduce(sides);
    const sessionId = await sides.client.newSession({ mcpServers: [THEIRS] });
    expect((await listOfferedServers(sides, "session/new")).map(({ name }) => name)).toEqual(["tools", "tools-2"]);
    await sides.client.answerTo(sides.client.prompt(sessionId));
    expect(sides.client.text).toBe("tools-2.echo: echo hi");
  });

  it.each([["acp"], ["http"]] as const)("are all available if two proxies add some, over %s", async (kind) => {
    const script = { ...taking(kind), otherwise: [call("tools"), call("tools-2"), call("other")] };
    const [first, second] = [toolServer("tools"), toolServer("tools")];
    await using sides = open(script, { mcpServers: [first] }, { mcpServers: [second, toolServer("other")] });
    await introduce(sides);
    await sides.client.answerTo(sides.client.prompt(await sides.client.newSession()));
    expect(sides.client.text).toBe("tools.echo: echo hi|tools-2.echo: echo hi|other.echo: echo hi");
    expect([first.opened, second.opened]).toEqual([1, 1]);
  });

  it("are passed on as declared if the agent supports them or their type is unknown", async () => {
    const declared: McpDeclaration[] = [
      { type: "http", name: "far", url: "http://127.0.0.1:9/mcp", headers: [{ name: "A", value: "b" }] },
      { type: "quantum", name: "odd", qubits: 3 },
      { name: "program", command: "/bin/true", args: ["x"], env: [] },
    ];
    await using sides = open(taking("http"), { mcpServers: declared });
    await introduce(sides);
    await sides.client.newSession();
    expect(await listOfferedServers(sides, "session/new")).toEqual(declared);
  });

  it("go through the bridge if the agent cannot reach them", async () => {
    const far: McpDeclaration = { type: "http", name: "far", url: "http://127.0.0.1:9/mcp", headers: [] };
    await using sides = open(taking(), { mcpServers: [far], bridge: ["/bridge", "now"] });
    await introduce(sides);
    await sides.client.newSession();
    expect(await listOfferedServers(sides, "session/new")).toMatchObject([
      { name: "far", command: "/bridge", args: ["now"] },
    ]);
  });

  it.each(["is refused", "is closed", "is deleted", "is set up again", "was disposed by the proxy that held it"])(
    "are unreachable once the session %s",
    async (how) => {
      const answer = how === "is refused" ? { error: { code: -32_000, message: "no" } } : {};
      const holds: ProxyOptions["fromClient"] = {
        "session/new": async (request) => {
          const { session } = await request.startSession();
          await session[Symbol.asyncDispose]();
          return session.setUp;
        },
      };
      await using sides = open(
        { ...taking("http"), on: { "session/new": { answer } }, otherwise: [call("own")] },
        { mcpServers: [toolServer("own")], ...(how.startsWith("was disposed") && { fromClient: holds }) },
      );
      await introduce(sides);
      const { result } = await sides.client.request("session/new", SETTING_UP);
      const { sessionId } = (result ?? {}) as { sessionId?: string };
      if (how === "is closed") await sides.client.request("session/close", { sessionId });
      if (how === "is deleted") await sides.client.request("session/delete", { sessionId });
      if (how === "is set up again") await sides.client.request("session/load", { ...SETTING_UP, sessionId });
      const [{ url = "" } = {}] = await listOfferedServers(sides, "session/new");
      await expect(unreachable(url)).resolves.toBe(true);
      if (how !== "is set up again") return;
      const [{ url: again = "" } = {}] = await listOfferedServers(sides, "session/load");
      expect(again).not.toBe(url);
      await sides.client.answerTo(sides.client.prompt(String(sessionId)));
      expect(sides.client.text).toBe("own.echo: echo hi");
    },
  );

  it("stay available if the agent refuses the close or another session is closed", async () => {
    const script: AcpScript = {
      ...taking("http"),
      on: { "session/close": [{ answer: { error: { code: -32_603, message: "busy" } } }, {}] },
      otherwise: [call("own")],
    };
    await using sides = open(script, { mcpServers: [toolServer("own")] });
    await introduce(sides);
    const [first, second] = [await sides.client.newSession(), await sides.client.newSession()];
    await sides.client.request("session/close", { sessionId: first });
    await sides.client.request("session/close", { sessionId: second });
    await sides.client.answerTo(sides.client.prompt(first));
    expect(sides.client.text).toBe("own.echo: echo hi");
  });

  it("are closed with the session even if a handler handles its close", async () => {
    await using sides = open(taking("http"), {
      mcpServers: [toolServer("own")],
      fromClient: { "session/close": async (request) => (await request.forward()).result },
    });
    await introduce(sides);
    const sessionId = await sides.client.newSession();
    await sides.client.request("session/close", { sessionId });
    const [{ url = "" } = {}] = await listOfferedServers(sides, "session/new");
    await expect(unreachable(url)).resolves.toBe(true);
  });

  it("are closed with the proxy, even those of a session that is being set up", async () => {
    const server = toolServer("own");
    const script: AcpScript = { ...taking("http"), on: { "session/new": { steps: [call("own"), { hang: true }] } } };
    await using sides = open(script, { mcpServers: [server] });
    await introduce(sides);
    sides.client.ask("session/new", SETTING_UP);
    await sides.client.called("session/update");
    const [{ url = "" } = {}] = await listOfferedServers(sides, "session/new");
    await sides.close();
    await expect(unreachable(url)).resolves.toBe(true);
    expect(server.live).toBe(0);
  });

  it("are available to a session that the proxy holds before the client knows it", async () => {
    await using sides = open(
      { ...taking("acp"), prompts: [[call("own")], [call("own")]] },
      {
        mcpServers: [toolServer("own")],
        fromClient: {
          "session/new": async (request) => {
            const held = await request.startSession();
            expect(await held.session.prompt("try it").readText()).toBe("own.echo: echo hi");
            held.proxyRemaining();
          },
        },
      },
    );
    await introduce(sides);
    await sides.client.answerTo(sides.client.prompt(await sides.client.newSession()));
    expect(sides.client.text).toBe("own.echo: echo hi");
  });
});

it("rejects close if a server could not be closed", async () => {
  const closing = deferred();
  const stuck: InProcessServer = {
    name: "stuck",
    open: () => ({
      connect(transport) {
        transport.onclose = () => {
          closing.resolve();
          throw new Error("it does not go");
        };
        return Promise.resolve();
      },
    }),
  };
  const sides = direct({ ...taking("acp"), otherwise: [call("stuck")] }, { mcpServers: [stuck] });
  await introduce(sides);
  sides.client.prompt(await sides.client.newSession());
  await settle();
  await expect(sides.close()).rejects.toThrow("some MCP servers could not be closed");
  await closing.promise;
  await sides.agent.close();
});

async function unreachable(url: string): Promise<boolean> {
  for (let looks = 0; looks < 100; looks += 1) {
    const gone = await fetch(url).then(
      () => false,
      () => true,
    );
    if (gone) return true;
    await settle();
  }
  return false;
}
