import { afterEach, beforeEach, expect, it } from "vitest";
import { deferred } from "../../../stdx/index.ts";
import { getResultText } from "../test-tools.ts";
import { META_KEYS, MCP_REVISION } from "./revision.ts";
import { McpAgent, REQUEST_META } from "./test-agent.ts";

let agent: McpAgent;

beforeEach(() => {
  agent = new McpAgent();
});
afterEach(() => agent[Symbol.asyncDispose]());

it("calls a tool without a handshake", async () => {
  const outcome = await agent.call("tools/call", { name: "echo", arguments: { text: "hi" } });
  expect(outcome).toMatchObject({
    result: {
      resultType: "complete",
      content: [{ text: "echo hi" }],
      _meta: { [META_KEYS.serverInfo]: { name: "tool-server" } },
    },
  });
});

it("describes the server and lists its tools over one connection", async () => {
  const serverId = agent.serve();
  expect(await agent.call("server/discover", {}, { serverId })).toMatchObject({
    result: {
      supportedVersions: [MCP_REVISION],
      capabilities: { tools: {} },
      instructions: "Echo what you hear.",
      ttlMs: 0,
    },
  });
  const { result } = (await agent.call("tools/list", {}, { serverId })) as { result: { tools: { name: string }[] } };
  expect(result.tools.map(({ name }) => name)).toEqual(["echo", "steps", "ask", "hang"]);
  expect(result).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  expect(agent.server.opened).toBe(1);
});

it("sends progress under the request's id, before its answer", async () => {
  const params = { name: "steps", _meta: { ...REQUEST_META, progressToken: "p" } };
  await agent.call("tools/call", params, { requestId: "mine" });
  expect(agent.notifications).toMatchObject(
    [1, 2].map((progress) => ({
      method: "mcp/message",
      params: { requestId: "mine", method: "notifications/progress", params: { progressToken: "p", progress } },
    })),
  );
});

it("puts an MCP error inside a successful answer", async () => {
  expect(await agent.call("resources/read", { uri: "x:y" })).toMatchObject({ error: { code: -32601 } });
});

it.each([
  ["without a version", {}, -32602],
  ["without capabilities", { [META_KEYS.protocolVersion]: MCP_REVISION }, -32602],
  ["of another version", { [META_KEYS.protocolVersion]: "2024-11-05", [META_KEYS.clientCapabilities]: {} }, -32022],
])("refuses a request %s", async (_, _meta, code) => {
  expect(await agent.call("tools/list", { _meta })).toMatchObject({ error: { code } });
  expect(agent.server.opened).toBe(0);
});

it.each(["initialize", "ping", "resources/subscribe", "notifications/initialized"])(
  "does not support %s",
  async (method) => {
    expect(await agent.call(method)).toMatchObject({ error: { code: -32601 } });
  },
);

it("fails a tool call that has to ask the agent a question", async () => {
  const { result } = (await agent.call("tools/call", { name: "ask" })) as { result: unknown };
  expect(result).toMatchObject({ isError: true });
  expect(getResultText(result)).toMatch(/elicitation/);
});

it("stops a cancelled call, and no other", async () => {
  const serverId = agent.serve();
  const controller = new AbortController();
  const hanging = agent.call("tools/call", { name: "hang" }, { serverId, signal: controller.signal });
  await agent.server.hanging.promise;
  controller.abort();
  await expect(hanging).rejects.toMatchObject({ code: -32800 });
  await agent.server.stopped.promise;
  const echoed = agent.call("tools/call", { name: "echo", arguments: { text: "on" } }, { serverId });
  expect(await echoed).toMatchObject({ result: {} });
  expect(agent.server.opened).toBe(1);
});

it("refuses a duplicate request id and the 65th concurrent request", async () => {
  const serverId = agent.serve();
  const hang = (requestId: string) => agent.call("tools/call", { name: "hang" }, { serverId, requestId });
  const hanging = [hang("same")];
  await expect(hang("same")).rejects.toMatchObject({ code: -32602 });
  for (let n = 1; n < 64; n += 1) hanging.push(hang(String(n)));
  await expect(hang("one more")).rejects.toMatchObject({ code: -33000 });
  await agent.overAcp[Symbol.asyncDispose]();
  for (const call of hanging) await expect(call).rejects.toMatchObject({ code: -32800 });
  expect(agent.server.live).toBe(0);
});

it("reopens the server after it has closed", async () => {
  const serverId = agent.serve();
  await agent.call("tools/list", {}, { serverId });
  await agent.server.latest?.close();
  expect(await agent.call("tools/list", {}, { serverId })).toMatchObject({ result: {} });
  expect(agent.server.opened).toBe(2);
});

it("reports that a server cannot be opened and retries on the next request", async () => {
  let broken = true;
  const { declaration } = agent.overAcp.serve({
    name: "late",
    open: () => (broken ? Promise.reject(new Error("not yet")) : agent.server.open()),
  });
  const { serverId } = declaration as { serverId: string };
  await expect(agent.call("tools/list", {}, { serverId })).rejects.toMatchObject({ code: -33002 });
  broken = false;
  expect(await agent.call("tools/list", {}, { serverId })).toMatchObject({ result: {} });
});

it("sends a listener what it asked for, after the acknowledgement, until it is cancelled", async () => {
  const [acknowledged, changed] = [deferred(), deferred()];
  agent.onNotification = ({ params: { method } }) => {
    if (method === "notifications/subscriptions/acknowledged") acknowledged.resolve();
    if (method === "notifications/tools/list_changed") changed.resolve();
  };
  const controller = new AbortController();
  const notifications = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["a:b"] };
  const options = { requestId: "ears", signal: controller.signal };
  const listening = agent.call("subscriptions/listen", { notifications }, options);
  await acknowledged.promise;
  agent.server.latest?.sendToolListChanged();
  await changed.promise;
  controller.abort();
  await expect(listening).rejects.toMatchObject({ code: -32800 });
  const _meta = { [META_KEYS.subscriptionId]: "ears" };
  expect(agent.notifications.map(({ params }) => params["params"])).toEqual([
    { notifications: { toolsListChanged: true }, _meta },
    { _meta },
  ]);
});

it("ends a listener when the server closes", async () => {
  const acknowledged = deferred();
  agent.onNotification = () => acknowledged.resolve();
  const listening = agent.call("subscriptions/listen", { notifications: {} }, { requestId: "ears" });
  await acknowledged.promise;
  await agent.server.latest?.close();
  expect(await listening).toMatchObject({
    result: { resultType: "complete", _meta: { [META_KEYS.subscriptionId]: "ears" } },
  });
});

it("stops waiting for a server that does not open when the request is cancelled or the server is removed", async () => {
  let open = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (open = resolve));
  const served = agent.overAcp.serve({ name: "slow", open: () => waiting.then(() => agent.server.open()) });
  const { serverId } = served.declaration as { serverId: string };
  const controller = new AbortController();
  const cancelled = agent.call("tools/list", {}, { serverId, signal: controller.signal });
  const removed = agent.call("tools/list", {}, { serverId });
  removed.catch(() => undefined);
  controller.abort();
  await expect(cancelled).rejects.toMatchObject({ code: -32800 });
  await served[Symbol.asyncDispose]();
  await expect(removed).rejects.toMatchObject({ code: -32800 });
  open();
  await agent.call("tools/list");
  expect(agent.server).toMatchObject({ opened: 2, live: 1 });
});
