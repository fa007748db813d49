import { describe, expect, it } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { toolServer } from "../mcp/test-tools.ts";
import { getRejection, openScene } from "./test-scene.ts";

const taking = (...kinds: ("acp" | "http")[]) => {
  const mcpCapabilities = { acp: kinds.includes("acp"), http: kinds.includes("http"), sse: false };
  return { initialize: { agentCapabilities: { mcpCapabilities } } };
};
const call = (server: string) => ({ callMcp: { server, tool: "echo", arguments: { text: "hi" } } });

describe("an MCP server in this process", () => {
  it.each([
    ["over ACP", ["acp", "http"] as const, { type: "acp" }],
    ["over HTTP", ["http"] as const, { type: "http" }],
    ["through a program", [] as const, { command: process.execPath }],
  ])("is reached %s if the agent supports that, until the session is disposed", async (_how, kinds, declaration) => {
    const server = toolServer();
    await using scene = await openScene({ ...taking(...kinds), otherwise: [call("tools")] });
    const session = await scene.client.session("/project").mcpServer(server).create();
    expect(scene.sent("session/new")).toMatchObject([{ mcpServers: [{ name: "tools", ...declaration }] }]);
    expect(await session.prompt("go").readText()).toBe("tools.echo: echo hi");
    await session[Symbol.asyncDispose]();
    expect(server.live).toBe(0);
    const again = await scene.client.session("/project").resume(session.id);
    expect(await again.prompt("go").readText()).toContain("has no MCP server tools");
  });

  it.each(["stateless", "stateful"] as const)("serves agents that use the %s form of MCP over ACP", async (dialect) => {
    await using scene = await openScene({ otherwise: [{ callMcp: { ...call("tools").callMcp, dialect } }] });
    const session = await scene.client.session("/project").mcpServer(toolServer()).create();
    expect(await session.prompt("go").readText()).toBe("tools.echo: echo hi");
  });

  it("is declared in the Rust dialect on request", async () => {
    await using scene = await openScene({ otherwise: [call("tools")] }, { mcpDialect: "rust" });
    const session = await scene.client.session("/project").mcpServer(toolServer()).create();
    expect(scene.sent("session/new")).toMatchObject([{ mcpServers: [{ url: expect.stringMatching(/^acp:/) }] }]);
    expect(await session.prompt("go").readText()).toBe("tools.echo: echo hi");
  });

  it("is available before the session setup is answered", async () => {
    await using scene = await openScene({ on: { "session/new": { steps: [call("tools")] } } });
    const session = await scene.client.session("/project").mcpServer(toolServer()).create();
    expect(JSON.stringify(session.take())).toContain("tools.echo: echo hi");
  });

  it("is separate for each session", async () => {
    const [one, other] = [toolServer(), toolServer()];
    await using scene = await openScene({ ...taking("http"), otherwise: [call("tools")] });
    const first = await scene.client.session("/a").mcpServer(one).create();
    const second = await scene.client.session("/b").mcpServer(other).create();
    await first.prompt("go").finish();
    expect([one.opened, other.opened]).toEqual([1, 0]);
    await first.close();
    expect(await second.prompt("go").readText()).toBe("tools.echo: echo hi");
  });

  it.each(["acp", "http"] as const)("is closed together with the client if the agent supports %s", async (kind) => {
    const server = toolServer();
    await using scene = await openScene({
      ...taking(kind),
      otherwise: [{ callMcp: { ...call("tools").callMcp, tool: "hang" } }],
    });
    const session = await scene.client.session("/project").mcpServer(server).create();
    const turn = getRejection(session.prompt("go").finish());
    await server.hanging.promise;
    await scene.client.close();
    await turn;
    expect(server.live).toBe(0);
  });

  it.each(["is left", "is closed", "could not be started"])("is unreachable once the session %s", async (how) => {
    const answer = how === "could not be started" ? { error: { code: -32603, message: "no" } } : {};
    await using scene = await openScene({
      ...taking("http"),
      on: { "session/new": { steps: [call("tools")], answer } },
    });
    const starting = scene.client.session("/project").mcpServer(toolServer()).create();
    if (how === "is left") await (await starting)[Symbol.asyncDispose]();
    else if (how === "is closed") await (await starting).close();
    else await getRejection(starting);
    const [params] = scene.sent("session/new");
    const [{ url = "" } = {}] = params?.["mcpServers"] as { url?: string }[];
    expect((await getRejection(fetch(url))).message).toBe("fetch failed");
  });

  it("is refused if its name is already taken", async () => {
    await using scene = await openScene({});
    const starting = scene.client
      .session("/project")
      .mcpServer(toolServer("a"))
      .mcpServer({ name: "a", command: "/a", args: [], env: [] });
    expect(isRookeryError(await getRejection(starting.create()), "config_invalid")).toBe(true);
    expect(scene.sent("session/new")).toEqual([]);
  });
});
