import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { setImmediate as tick } from "node:timers/promises";
import { expect, it } from "vitest";
import { openProxied } from "./test-scene.ts";

const greeter = {
  name: "greeter",
  open() {
    const server = new McpServer({ name: "greeter", version: "1" });
    server.registerTool("greet", { description: "greets" }, () => ({
      content: [{ type: "text", text: "hello from the proxy" }],
    }));
    return server;
  },
};

it("passes everything on unchanged", async () => {
  await using scene = await openProxied({
    prompts: [[{ update: { sessionUpdate: "from_the_future", field: [1, { deep: null }] } }, { say: "hi" }]],
  });
  const session = await scene.client.session("/project").create();
  const items = [];
  for await (const item of session.prompt("x")) if (item.kind === "update") items.push(item.update);
  expect(items).toEqual([
    { sessionUpdate: "from_the_future", field: [1, { deep: null }] },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } },
  ]);
});

it("adds the configured servers to every session and serves their tools", async () => {
  await using scene = await openProxied(
    {
      initialize: { agentCapabilities: { mcpCapabilities: { http: true } } },
      prompts: [[{ callMcp: { server: "greeter", tool: "greet" } }]],
    },
    { mcpServers: [greeter] },
  );
  const session = await scene.client.session("/project").create();
  expect(await session.prompt("x").readText()).toContain("hello from the proxy");
});

it("changes a prompt on its way", async () => {
  await using scene = await openProxied(
    { otherwise: [{ say: "ok" }] },
    { prompt: (request) => ({ ...request, prompt: [...request.prompt, { type: "text", text: "(be brief)" }] }) },
  );
  const session = await scene.client.session("/project").create();
  await session.prompt("Explain").finish();
  expect(await scene.agent.receivedMethod("session/prompt")).toMatchObject({
    prompt: [
      { type: "text", text: "Explain" },
      { type: "text", text: "(be brief)" },
    ],
  });
});

it("lets no update overtake a response that a handler still holds", async () => {
  const order: string[] = [];
  await using scene = await openProxied(
    { on: { "session/new": { after: [{ update: { sessionUpdate: "current_mode_update", currentModeId: "m" } }] } } },
    {
      fromClient: {
        "session/new": async (request) => {
          const response = await request.forward();
          for (let i = 0; i < 5; i += 1) await tick();
          return response;
        },
      },
    },
    {
      trace: (direction, line) =>
        direction === "in" && order.push(line.includes("session/update") ? "update" : "response"),
    },
  );
  const session = await scene.client.session("/project").create();
  await session.next();
  expect(order).toEqual(["response", "response", "update"]); // of initialize and of session/new
});

it("hands a session over with its unread messages in order, after the agent's response", async () => {
  const lines: string[] = [];
  await using scene = await openProxied(
    {
      on: { "session/new": { answer: { merge: { custom: { kept: true } } }, after: [{ say: "early" }] } },
      prompts: [[{ say: "warm " }, { say: "up" }], [{ say: "live" }]],
    },
    {
      fromClient: {
        "session/new": async (request) => {
          const held = await request.startSession();
          const turn = held.session.prompt("warm up");
          await turn.response;
          held.proxyRemaining();
        },
      },
    },
    { trace: (direction, line) => direction === "in" && lines.push(line) },
  );
  const session = await scene.client.session("/project").create();
  expect(session.response).toMatchObject({ custom: { kept: true } });
  for (let unread = 3; unread > 0; unread -= 1) await session.next();
  expect(await session.prompt("go").readText()).toBe("live");
  const texts = lines.flatMap((line) => /"text":"([^"]*)"/.exec(line)?.[1] ?? []);
  expect(texts).toEqual(["early", "warm ", "up", "live"]);
});
