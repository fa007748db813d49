import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { getResultText } from "../test-tools.ts";
import { McpAgent } from "./test-agent.ts";

const CLIENT = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {} },
  clientInfo: { name: "agent", version: "1" },
};

let agent: McpAgent;

beforeEach(() => {
  agent = new McpAgent();
});
afterEach(() => agent[Symbol.asyncDispose]());

describe.each([
  ["mcp/", { acp: "serverId", id: "connectionId" }],
  ["_mcp/", { acp: "acp_url", id: "connection_id" }],
])("with %s", (prefix, { acp, id }) => {
  const message = (connectionId: string, method: string, params: object = {}, signal?: AbortSignal) =>
    agent.connection.request(`${prefix}message`, { connectionId, method, params }, { signal });

  /** A connection on which `initialize` is done. */
  async function connect(): Promise<string> {
    const params = { [acp]: agent.serve() };
    const answered = await agent.connection.request<Record<string, string>>(`${prefix}connect`, params);
    const connectionId = answered[id] ?? "";
    await message(connectionId, "initialize", CLIENT);
    await agent.connection.notify(`${prefix}message`, { connectionId, method: "notifications/initialized" });
    return connectionId;
  }

  it("opens a separate server for each connection", async () => {
    const [first, second] = [await connect(), await connect()];
    expect(first).not.toBe(second);
    expect(agent.server.live).toBe(2);
    const echoed = await message(second, "tools/call", { name: "echo", arguments: { text: "hi" } });
    expect(getResultText(echoed)).toBe("echo hi");
  });

  it("answers with the server's own error", async () => {
    await expect(message(await connect(), "no/such/method")).rejects.toMatchObject({ code: -32601 });
  });

  it("passes requests and notifications of the server to the agent", async () => {
    const asked: unknown[] = [];
    agent.answer = ({ method, params }) => {
      asked.push({ method, params });
      return { action: "accept", content: { colour: "green" } };
    };
    const connectionId = await connect();
    expect(getResultText(await message(connectionId, "tools/call", { name: "ask" }))).toBe("they like green");
    expect(asked).toMatchObject([
      { method: `${prefix}message`, params: { connectionId, method: "elicitation/create" } },
    ]);
    await message(connectionId, "tools/call", { name: "steps", _meta: { progressToken: 7 } });
    expect(agent.notifications).toMatchObject(
      [1, 2].map((progress) => ({
        method: `${prefix}message`,
        params: { connectionId, method: "notifications/progress", params: { progressToken: 7, progress } },
      })),
    );
  });

  it("passes the agent's refusal to the server", async () => {
    const result = await message(await connect(), "tools/call", { name: "ask" });
    expect(result).toMatchObject({ isError: true });
    expect(getResultText(result)).toMatch(/nobody is there/);
  });

  it("closes a connection by request or notification, and fails its pending calls", async () => {
    const [first, second] = [await connect(), await connect()];
    const hanging = message(first, "tools/call", { name: "hang" });
    hanging.catch(() => undefined);
    await agent.server.hanging.promise;
    await agent.connection.request(`${prefix}disconnect`, { [id]: first });
    await expect(hanging).rejects.toMatchObject({ code: -33002 });
    await agent.server.stopped.promise;
    await agent.connection.notify(`${prefix}disconnect`, { [id]: second });
    await expect(message(second, "tools/list")).rejects.toMatchObject({ code: -32602 });
    expect(agent.server.live).toBe(0);
  });

  it("stops a cancelled call", async () => {
    const controller = new AbortController();
    const hanging = message(await connect(), "tools/call", { name: "hang" }, controller.signal);
    await agent.server.hanging.promise;
    controller.abort();
    await expect(hanging).rejects.toMatchObject({ code: -32800 });
    await agent.server.stopped.promise;
  });

  it("ignores cancels with ids of the agent's own MCP client", async () => {
    const connectionId = await connect();
    const hanging = message(connectionId, "tools/call", { name: "hang" });
    hanging.catch(() => undefined);
    await agent.server.hanging.promise;
    for (let requestId = 1; requestId < 5; requestId += 1) {
      const params = { connectionId, method: "notifications/cancelled", params: { requestId } };
      await agent.connection.notify(`${prefix}message`, params);
    }
    await message(connectionId, "ping");
    const stopped = agent.server.stopped.promise.then(() => true);
    expect(await Promise.race([stopped, Promise.resolve(false)])).toBe(false);
  });
});

it("refuses the 257th connection", async () => {
  const params = { serverId: agent.serve() };
  for (let n = 0; n < 256; n += 1) await agent.connection.request("mcp/connect", params);
  await expect(agent.connection.request("mcp/connect", params)).rejects.toMatchObject({ code: -33000 });
});

it("gives no connection to a server that was removed while it opened", async () => {
  let opened = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (opened = resolve));
  const served = agent.overAcp.serve({ name: "slow", open: () => waiting.then(() => agent.server.open()) });
  const connecting = agent.connection.request("mcp/connect", served.declaration);
  connecting.catch(() => undefined);
  await agent.connection.request("mcp/disconnect", { connectionId: "nobody" }).catch(() => undefined);
  await served[Symbol.asyncDispose]();
  opened();
  await expect(connecting).rejects.toMatchObject({ code: -33001 });
  expect(agent.server).toMatchObject({ opened: 1, live: 0 });
});
