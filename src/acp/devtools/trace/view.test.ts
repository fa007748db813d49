import { expect, it } from "vitest";
import { viewTrace } from "./index.ts";

const START = Date.parse("2025-01-01T00:00:00Z");

interface Step {
  readonly ms: number;
  readonly direction?: "in" | "out";
  readonly message?: unknown;
  readonly line?: string;
  readonly dropped?: number;
}

const entry = ({ ms, ...more }: Step) => JSON.stringify({ at: new Date(START + ms).toISOString(), ...more });
const out = (ms: number, message: object) => entry({ ms, direction: "out", message: { jsonrpc: "2.0", ...message } });
const into = (ms: number, message: object) => entry({ ms, direction: "in", message: { jsonrpc: "2.0", ...message } });
const update = (ms: number, sessionId: string, fields: object) =>
  into(ms, { method: "session/update", params: { sessionId, update: fields } });
const chunk = (ms: number, sessionId: string, text: string, kind = "agent_message_chunk") =>
  update(ms, sessionId, { sessionUpdate: kind, content: { type: "text", text } });

async function view(...lines: string[]): Promise<string[]> {
  const shown: string[] = [];
  for await (const line of viewTrace(each(lines))) shown.push(line);
  return shown;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const ID = "sess_0123456789abcdef";

it("prints a whole conversation", async () => {
  const shown = await view(
    out(0, { id: 1, method: "initialize", params: { protocolVersion: 1 } }),
    into(12, { id: 1, result: { protocolVersion: 1, _meta: { secret: 1 } } }),
    out(20, { id: 2, method: "session/new", params: { cwd: "/project", mcpServers: [] } }),
    into(120, { id: 2, result: { sessionId: ID } }),
    out(130, {
      id: 3,
      method: "session/prompt",
      params: {
        sessionId: ID,
        prompt: [
          { type: "text", text: "Mend it" },
          { type: "image", data: "" },
        ],
      },
    }),
    chunk(200, ID, "I will"),
    chunk(210, ID, " look\nat "),
    chunk(220, ID, "it."),
    update(300, ID, {
      sessionUpdate: "tool_call",
      toolCallId: "t1",
      title: "Read a.ts",
      kind: "read",
      status: "pending",
    }),
    into(310, {
      id: "p1",
      method: "session/request_permission",
      params: { sessionId: ID, toolCall: { toolCallId: "t1", title: "Read a.ts" }, options: [] },
    }),
    out(1310, { id: "p1", result: { outcome: { outcome: "selected", optionId: "yes" } } }),
    update(1400, ID, {
      sessionUpdate: "tool_call_update",
      toolCallId: "t1",
      status: "completed",
      content: [{ type: "diff" }],
    }),
    update(1500, ID, {
      sessionUpdate: "plan",
      entries: [
        { content: "a", status: "completed" },
        { content: "b", status: "in_progress" },
      ],
    }),
    update(1600, ID, { sessionUpdate: "usage_update", used: 10, size: 100 }),
    update(1700, ID, { sessionUpdate: "of_tomorrow", x: 1 }),
    into(20_000, { id: 3, result: { stopReason: "end_turn" } }),
  );
  expect(shown).toEqual([
    `    0.000 → initialize #1 {"protocolVersion":1}`,
    `    0.012 ← initialize #1 ok in 12 ms {"protocolVersion":1}`,
    `    0.020 → session/new #2 {"cwd":"/project","mcpServers":[]}`,
    `    0.120 ← session/new #2 ok in 100 ms […abcdef]`,
    `    0.130 → session/prompt #3 […abcdef] "Mend it" "[image]"`,
    `    0.200 ← […abcdef] agent_message_chunk ×3 "I will look at it."`,
    `    0.300 ← […abcdef] tool_call t1 read pending "Read a.ts"`,
    `    0.310 ← session/request_permission #"p1" […abcdef] t1 "Read a.ts"`,
    `    1.310 → session/request_permission #"p1" ok in 1000 ms {"outcome":{"outcome":"selected","optionId":"yes"}}`,
    `    1.400 ← […abcdef] tool_call_update t1 completed +1 content`,
    `    1.500 ← […abcdef] plan 1 of 2 done, now "b"`,
    `    1.600 ← […abcdef] usage_update {"used":10,"size":100}`,
    `    1.700 ← […abcdef] of_tomorrow {"x":1}`,
    `   20.000 ← session/prompt #3 ok in 19.9 s {"stopReason":"end_turn"}`,
  ]);
});

it("prints errors without shortening them", async () => {
  const long = "word ".repeat(100).trim();
  const [, shown] = await view(
    out(0, { id: 1, method: "session/new" }),
    into(5, { id: 1, error: { code: -32603, message: long, data: { details: long }, hint: 1 } }),
  );
  expect(shown).toBe(`    0.005 ← session/new #1 failed in 5 ms -32603 ${long} {"details":"${long}"} {"hint":1}`);
});

it("matches ids separately for each direction and reports answers without a request", async () => {
  const shown = await view(
    out(0, { id: 1, method: "a" }),
    into(1, { id: 1, method: "b" }),
    into(2, { id: 1, result: null }),
    out(4, { id: 1, result: {} }),
    into(5, { id: 1, result: 7 }),
    into(6, { id: "1", error: { code: 1, message: "late" } }),
  );
  expect(shown.slice(2)).toEqual([
    "    0.002 ← a #1 ok in 2 ms",
    "    0.004 → b #1 ok in 3 ms",
    "    0.005 ← #1 answers no request: ok 7",
    `    0.006 ← #"1" answers no request: failed 1 late`,
  ]);
});

it("lists requests that were never answered", async () => {
  expect(
    await view(out(0, { id: 1, method: "a" }), out(7, { id: 2, method: "b" }), into(9, { id: 1, result: {} })),
  ).toContain("    0.007 → b #2 was never answered");
});

it("joins consecutive chunks only within the same session, kind, message and direction", async () => {
  const shown = await view(
    chunk(0, "one", "a"),
    chunk(1, "one", "b"),
    chunk(2, "two", "c"),
    chunk(3, "two", "d", "agent_thought_chunk"),
    update(4, "two", { sessionUpdate: "agent_thought_chunk", messageId: "m", content: { type: "text", text: "e" } }),
    update(5, "two", { sessionUpdate: "agent_thought_chunk", messageId: "m", content: { type: "image" } }),
    out(6, {
      method: "session/update",
      params: {
        sessionId: "two",
        update: { sessionUpdate: "agent_thought_chunk", messageId: "m", content: { type: "text", text: "f" } },
      },
    }),
    out(7, { method: "session/cancel", params: { sessionId: "two" } }),
    chunk(8, "two", "g"),
  );
  expect(shown.map((line) => line.slice(10))).toEqual([
    `← [one] agent_message_chunk ×2 "ab"`,
    `← [two] agent_message_chunk "c"`,
    `← [two] agent_thought_chunk "d"`,
    `← [two] agent_thought_chunk ×2 "e[image]"`,
    `→ [two] agent_thought_chunk "f"`,
    `→ session/cancel [two]`,
    `← [two] agent_message_chunk "g"`,
  ]);
});

it("gives different names to sessions whose ids have the same end", async () => {
  const shown = await view(
    ...["first-session-123456", "other-session-123456", "first-session-123456"].map((sessionId) =>
      out(0, { method: "session/cancel", params: { sessionId } }),
    ),
  );
  expect(shown.map((line) => line.slice(12))).toEqual([
    "session/cancel […123456]",
    "session/cancel […on-123456]",
    "session/cancel […123456]",
  ]);
});

it("prints noise, dropped messages, proxied messages and invalid messages", async () => {
  const shown = await view(
    entry({ ms: 0, direction: "in", line: "Loading \u001b[31mplugins\u001b[0m…" }),
    entry({ ms: 1, dropped: 4 }),
    into(2, { id: 1, method: "proxy/successor", params: { method: "session/new", params: { cwd: "/" } } }),
    ...["a", "b"].map((text, index) => {
      const { message } = JSON.parse(chunk(0, "s", text)) as { message: object };
      return into(3 + index, { method: "_proxy/successor", params: message });
    }),
    entry({ ms: 5, direction: "in", message: [1, 2] }),
  );
  expect(shown.slice(0, 5)).toEqual([
    `    0.000 ← not JSON: "Loading plugins…"`,
    "    0.001   4 messages were skipped here",
    `    0.002 ← proxy/successor › session/new #1 {"cwd":"/"}`,
    `    0.003 ← _proxy/successor › [s] agent_message_chunk ×2 "ab"`,
    "    0.005 ← not a message: [1,2]",
  ]);
});

it("continues after lines that are not trace entries", async () => {
  const broken = [
    "{",
    "null",
    "7",
    "[]",
    "{}",
    `{"at":"never","direction":"in","message":{}}`,
    `{"at":1}`,
    "",
    `{"at":"2025-01-01T00:00:00Z","direction":"up","message":1}`,
  ];
  const shown = await view(...broken, out(0, { method: "x" }), out(1, { method: 7 as unknown as string }));
  expect(shown.filter((line) => line.includes("not a trace entry"))).toHaveLength(8);
  expect(shown.slice(-2)).toEqual(["    0.000 → x", `    0.001 → not a message: {"jsonrpc":"2.0","method":7}`]);
});

it("prints untrusted text short, on one line and without control characters", async () => {
  const text = `\u001b[2J${"long ".repeat(100_000)}`;
  const shown = await view(
    chunk(0, `id\n${"x".repeat(200)}`, text),
    out(1, { id: `\u0007${"i".repeat(500)}`, method: `m\n${"m".repeat(500)}`, params: { text } }),
    update(2, "s", { sessionUpdate: `k\r${"k".repeat(500)}`, text }),
    update(3, "s", { sessionUpdate: "tool_call", toolCallId: "t".repeat(500), title: text }),
    update(4, "s", { sessionUpdate: "available_commands_update", availableCommands: [{ name: text }, null] }),
  );
  expect(shown.length).toBe(6);
  for (const line of shown) {
    expect(line.length).toBeLessThan(400);
    expect(line).not.toMatch(/[\u0000-\u001f]/);
  }
});
