import { afterEach, beforeEach, expect, it } from "vitest";
import { McpOverAcp } from "./provider.ts";
import { McpAgent } from "./test-agent.ts";

let agent: McpAgent;

beforeEach(() => {
  agent = new McpAgent();
});
afterEach(() => agent[Symbol.asyncDispose]());

it("declares a server in the configured dialect", () => {
  const rust = new McpOverAcp(agent.connection, { dialect: "rust" });
  expect(rust.serve(agent.server).declaration).toEqual({
    type: "http",
    name: "tools",
    url: expect.stringMatching(/^acp:/),
    headers: [],
  });
  const official = agent.overAcp.serve(agent.server).declaration;
  expect(official).toEqual({ type: "acp", name: "tools", serverId: expect.any(String) });
});

it("recognizes its own messages, so that a proxy can pass the others on", async () => {
  const serverId = agent.serve();
  const other = new McpOverAcp(agent.connection).serve(agent.server).declaration as { serverId: string };
  const { connectionId } = await agent.connection.request<{ connectionId: string }>("mcp/connect", { serverId });
  const own = [
    { method: "mcp/connect", params: { serverId } },
    { method: "_mcp/connect", params: { acp_url: serverId } },
    { method: "mcp/message", params: { serverId, requestId: "1", method: "tools/list" } },
    { method: "mcp/message", params: { connectionId, method: "tools/list" } },
    { method: "_mcp/request", params: { connection_id: connectionId, method: "tools/list" } },
    { method: "mcp/disconnect", params: { connectionId } },
  ];
  const foreign = [
    { method: "mcp/connect", params: { serverId: other.serverId } },
    { method: "mcp/message", params: { serverId: "theirs", requestId: "1", method: "tools/list" } },
    { method: "mcp/message", params: { connectionId: "theirs", method: "tools/list" } },
    { method: "mcp/message", params: null },
    { method: "session/prompt", params: { serverId } },
    { method: "toString", params: { serverId } },
  ];
  expect(own.map((message) => agent.overAcp.handles(message))).toEqual(own.map(() => true));
  expect(foreign.map((message) => agent.overAcp.handles(message))).toEqual(foreign.map(() => false));
  await agent.overAcp[Symbol.asyncDispose]();
  expect(agent.overAcp.handles(own[0]!)).toBe(true);
});

it.each([
  ["mcp/message", { serverId: "nobody", requestId: "1", method: "tools/list" }, -33001],
  ["mcp/connect", { serverId: "nobody" }, -33001],
  ["mcp/message", { connectionId: "nobody", method: "tools/list" }, -32602],
  ["mcp/disconnect", { connectionId: "nobody" }, -32602],
  ["mcp/message", { serverId: "nobody", method: "tools/list" }, -32602],
  ["mcp/message", { serverId: "nobody", requestId: "1", method: "tools/list", params: [] }, -32602],
  ["mcp/message", "text", -32602],
  ["mcp/other", {}, -32601],
])("refuses %s with %j", async (method, params, code) => {
  await expect(agent.connection.request(method, params)).rejects.toMatchObject({ code });
});
