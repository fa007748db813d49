import { expect, it } from "vitest";
import type { SessionEvent, ToolSource } from "../../domain/index.ts";
import { scriptedServer } from "../../mcp/test-servers.ts";
import { collect, type AcpScript } from "../../testing/index.ts";
import { findOfferedTool } from "../offered-tools.ts";
import { openScene } from "./test-scene.ts";

const SERVER = scriptedServer("s");
const CONFIGURED = `[mcp.s]\ncommand = ${JSON.stringify([SERVER.command, ...SERVER.args])}\n`;
const FILTER = `tools = { allow = ["s__*"], deny = ["s__fail"] }\n`;

const list: AcpScript = { otherwise: [{ callMcp: { server: "rookery" } }] };
const callEcho = { callMcp: { server: "rookery", tool: "s__echo", arguments: { text: "hello" } } };
const echo: AcpScript = { otherwise: [callEcho] };

function said(events: readonly SessionEvent[]): string {
  return events.map((event) => (event.type === "message.completed" ? event.text : "")).join("");
}

it("offers an external agent only the tools it may use", async () => {
  await using scene = await openScene(list, {}, FILTER + CONFIGURED);
  const session = await scene.open();
  const tools = said(await collect(session.prompt("list")));
  expect(tools).toContain("s__echo");
  expect(tools).not.toContain("s__fail");
  expect(tools).not.toContain("bash");
});

it("offers no server if there are no tools", async () => {
  await using scene = await openScene(list);
  const session = await scene.open();
  expect(said(await collect(session.prompt("list")))).toContain("has no MCP server rookery");
});

it.each([
  ["allow", "ok", "rookery.s__echo: hello"],
  ["deny", "denied", "rookery.s__echo: error"],
] as const)("asks for permission for each call: %s", async (decision, outcome, expected) => {
  await using scene = await openScene(echo, {}, CONFIGURED);
  const session = await scene.open();
  const events: SessionEvent[] = [];
  for await (const event of session.prompt("go")) {
    events.push(event);
    if (event.type !== "permission.requested") continue;
    expect(event).toMatchObject({ tool: "s__echo", input: { text: "hello" } });
    await session.answer(event.requestId, { decision });
  }
  expect(said(events)).toContain(expected);
  expect(events.filter(({ type }) => type === "tool.ended")).toMatchObject([{ outcome }]);
});

const callFound = {
  server: "rookery",
  tool: "call_tool",
  arguments: { name: "s__echo", arguments: { text: "hello" } },
};

it.each([
  ["by name", "s__echo", callEcho, ""],
  ["through call_tool", "call_tool", { callMcp: callFound }, "[tools]\ndefer_over = 0\n"],
])("logs and asks once for a call that the agent also reports: %s", async (_, name, step, more) => {
  const announced = { toolCallId: "c1", title: `mcp__rookery__${name}`, kind: "other" } as const;
  const script: AcpScript = {
    otherwise: [
      { update: { sessionUpdate: "tool_call", status: "pending", ...announced } },
      { permission: { toolCall: announced } },
      step,
      { update: { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" } },
    ],
  };
  await using scene = await openScene(script, {}, CONFIGURED + more);
  const session = await scene.open();
  const asked: SessionEvent[] = [];
  const events: SessionEvent[] = [];
  for await (const event of session.prompt("go")) {
    events.push(event);
    if (event.type !== "permission.requested") continue;
    asked.push(event);
    await session.answer(event.requestId, { decision: "allow" });
  }
  expect(asked).toMatchObject([{ toolId: "c1", tool: "s__echo" }]);
  expect(events.filter(({ type }) => type === "tool.started").length).toBe(1);
  expect(said(events)).toContain(`rookery.${name}: hello`);
});

it("routes the client's servers through the catalog if a tool filter is set", async () => {
  for (const [more, server] of [
    ["", "s"],
    [FILTER, "rookery"],
  ] as const) {
    const script: AcpScript = { otherwise: [{ callMcp: { server } }] };
    await using scene = await openScene(script, { mcpServers: [SERVER] }, more);
    const session = await scene.open();
    const tools = said(await collect(session.prompt("list")));
    expect(tools.includes("fail")).toBe(more === "");
    expect(tools).toContain("echo");
  }
});

it("applies a later overlay with the next turn", async () => {
  await using scene = await openScene(list);
  const session = await scene.open();
  await collect(session.prompt("list"));
  const extra: ToolSource = {
    id: "extra",
    list: () => [{ name: "extra", description: "x", inputSchema: { type: "object" }, kind: "other", readOnly: true }],
    describe: () => ({ title: "extra" }),
    call: () => Promise.resolve({ outcome: "ok", text: "x" }),
  };
  session.setOverlay({ sources: [extra], contributions: [], base: true });
  expect(said(await collect(session.prompt("list")))).toContain("rookery: extra");
});

const CATALOG = new Set(["s__echo"]);
it.each([
  ["mcp__rookery__s__echo", { kind: "other" }, "s__echo"],
  ["mcp__rookery__s__echo", { kind: "execute" }, "s__echo"],
  ["mcp.rookery.s__echo", { kind: "execute" }, "s__echo"],
  ["rookery__s__echo", { kind: "other" }, "s__echo"],
  ["rookery_s__echo", { kind: "other" }, "s__echo"],
  ["rookery/s__echo", { kind: "other" }, "s__echo"],
  ["rookery.s__echo", { kind: "other" }, "s__echo"],
  ["rookery: s__echo", { kind: "other" }, "s__echo"],
  ["s__echo (rookery MCP Server)", { kind: "other" }, "s__echo"],
  ["s__echo (rookery MCP Server)", { kind: "other", input: { command: "x" } }, "s__echo"],
  ["s__echo (rookery MCP Server)", { kind: "execute" }, undefined], // a command with the model's comment
  ["rookery/s__echo", { kind: "edit" }, undefined], // a file
  ["mcp__rookery__s__echo", { kind: "delete" }, undefined],
  ["rookery/s__echo", { kind: "fetch" }, undefined],
  ["mcp__rookery__s__echo", { kind: "read" }, "s__echo"],
  ["rookery/s__echo", { kind: "execute" }, undefined],
  ["rookery s__echo", { kind: "other", input: { command: "rookery s__echo" } }, undefined],
  ["mcp__Rookery__s__echo", { kind: "other" }, undefined],
  ["mcp__rookery__s__other", { kind: "other" }, undefined],
  ["s__echo", { kind: "other" }, undefined],
  ["rm -rf . # mcp__rookery__s__echo", { kind: "execute" }, undefined],
  ["mcp__rookery__s__echo; rm -rf .", { kind: "execute" }, undefined],
  ["curl rookery/s__echo", { kind: "other" }, undefined],
] as const)("recognizes the agent's names for a Rookery tool, and no other title: %s, %o", (title, more, expected) => {
  expect(findOfferedTool({ name: "", title, input: {}, ...more }, CATALOG)).toBe(expected);
});

it.each([
  ["by name", "s__echo", callEcho, ""],
  ["through call_tool", "call_tool", { callMcp: callFound }, "[tools]\ndefer_over = 0\n"],
])("logs a call once that arrives before the agent reports it: %s", async (_, name, step, more) => {
  const update = { toolCallId: "c1", title: `mcp__rookery__${name}`, kind: "other" } as const;
  const again = { ...update, toolCallId: "c2" };
  const script: AcpScript = {
    otherwise: [
      step,
      { update: { sessionUpdate: "tool_call", status: "pending", ...update } },
      { update: { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" } },
      { update: { sessionUpdate: "tool_call", status: "pending", ...again } },
      step,
      { update: { sessionUpdate: "tool_call_update", toolCallId: "c2", status: "completed" } },
    ],
  };
  await using scene = await openScene(script, { permissions: "all" }, CONFIGURED + more);
  const events = await collect((await scene.open()).prompt("go"));
  expect(events.filter(({ type }) => type === "tool.started")).toHaveLength(2);
  expect(events.filter(({ type }) => type === "tool.ended")).toMatchObject([{ outcome: "ok" }, { outcome: "ok" }]);
});
