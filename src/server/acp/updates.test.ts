import { expect, it } from "vitest";
import type * as acp from "../../acp/schema.ts";
import type { EventBody } from "../../domain/index.ts";
import { openAcpScene, receivedUpdates } from "./test-scene.ts";
import { openScriptedSession } from "./test-scripted.ts";

const CAPABILITIES: acp.ClientCapabilities = { session: { notices: {}, compaction: {} } };

/** Returns the updates of a turn with these events, live and after a load. */
async function collectUpdates(bodies: readonly EventBody[], capabilities: acp.ClientCapabilities = CAPABILITIES) {
  await using scene = await openAcpScene([]);
  await using driven = await openScriptedSession(scene, (turn) => {
    turn.log.record(...bodies);
    return Promise.resolve(undefined);
  });
  const watching = await scene.editor({ capabilities });
  const watched = await watching.client.session(scene.folder).load(driven.id);
  await driven.prompt("go").outcome;
  await driven[Symbol.asyncDispose]();
  const later = await scene.editor({ capabilities });
  await later.client.session(scene.folder).load(driven.id);
  await watched.setMode("all"); // flushes all pending updates
  const of = (editor: typeof watching): acp.SessionUpdate[] =>
    receivedUpdates(editor, driven.id).filter(({ sessionUpdate }) => !AROUND.has(sessionUpdate));
  return { live: of(watching), later: of(later) };
}

const AROUND = new Set([
  "user_message_chunk",
  "available_commands_update",
  "session_info_update",
  "current_mode_update",
  "config_option_update",
]);
const TOOL = { toolId: "t1", name: "edit", title: "Edit a.ts", kind: "edit", input: { path: "a.ts" } } as const;

it.each<[string, EventBody[], unknown[]]>([
  [
    "a plan",
    [{ type: "plan.updated", entries: [{ content: "Look", status: "in_progress" }] }],
    [{ sessionUpdate: "plan", entries: [{ content: "Look", status: "in_progress", priority: "medium" }] }],
  ],
  [
    "a complete message",
    [{ type: "message.completed", messageId: "m", text: "Hello" }],
    [{ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "Hello" } }],
  ],
  [
    "a message sent in deltas",
    [
      { type: "message.delta", messageId: "m", text: "Hello" },
      { type: "message.completed", messageId: "m", text: "Hello" },
    ],
    [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hello" } }],
  ],
  [
    "a tool call with locations and diffs",
    [
      { type: "tool.started", ...TOOL, locations: [{ path: "/a.ts", line: 3 }] },
      {
        type: "tool.ended",
        toolId: "t1",
        outcome: "ok",
        text: "",
        diffs: [
          { path: "/a.ts", before: null, after: "x" },
          { path: "/b.ts", before: "y", after: null },
          { path: "/c.ts", before: null, after: null, truncated: true },
        ],
      },
    ],
    [
      {
        sessionUpdate: "tool_call",
        toolCallId: "t1",
        name: "edit",
        kind: "edit",
        locations: [{ path: "/a.ts", line: 3 }],
      },
      {
        sessionUpdate: "tool_call_update",
        status: "completed",
        content: [
          { type: "diff", path: "/a.ts", oldText: null, newText: "x" },
          { type: "diff", path: "/b.ts", oldText: "y", newText: "" },
          {
            type: "content",
            content: { type: "text", text: expect.stringContaining("/c.ts: the diff is too long") as string },
          },
        ],
      },
    ],
  ],
  [
    "context usage and cost",
    [
      { type: "usage.reported", inputTokens: 10, outputTokens: 2, costUsd: 0.5, contextSize: 100, contextUsed: 12 },
      { type: "usage.reported", inputTokens: 20, outputTokens: 3, costUsd: 0.25, contextSize: 100 },
      { type: "usage.reported", inputTokens: 1, outputTokens: 1 },
    ],
    [
      { sessionUpdate: "usage_update", used: 12, size: 100, cost: { amount: 0.5, currency: "USD" } },
      { sessionUpdate: "usage_update", used: 23, size: 100, cost: { amount: 0.75, currency: "USD" } },
    ],
  ],
  [
    "a compaction",
    [{ type: "context.compacted", summary: "Short.", throughSeq: 1 }],
    [{ sessionUpdate: "compaction_update", status: "completed", summary: [{ type: "text", text: "Short." }] }],
  ],
  [
    "a subagent as a tool call",
    [
      { type: "subagent.started", childSessionId: "ses_c", title: "Search" },
      { type: "subagent.ended", childSessionId: "ses_c", outcome: { status: "done" } },
    ],
    [
      { sessionUpdate: "tool_call", toolCallId: "ses_c", title: "Search", kind: "think", status: "in_progress" },
      { sessionUpdate: "tool_call_update", toolCallId: "ses_c", status: "completed" },
    ],
  ],
  [
    "other program output as a thought",
    [{ type: "output.text", text: "warning" }],
    [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "warning" } }],
  ],
])("shows %s live and after a load", async (_, bodies, expected) => {
  const { live, later } = await collectUpdates(bodies);
  expect(live).toMatchObject(expected);
  expect(later).toMatchObject(expected);
});

it.each<[string, EventBody, unknown]>([
  [
    "a notice",
    { type: "notice", level: "warning", code: "x", message: "Careful" },
    { severity: "warning", title: "Careful" },
  ],
  [
    "a parked turn",
    { type: "turn.parked", until: "2026-01-01T05:00:05.000Z", message: "Limit reached" },
    { severity: "warning", title: "Limit reached; the turn resumes at 2026-01-01T05:00:05.000Z" },
  ],
  ["a resumed turn", { type: "turn.continued" }, { severity: "info", title: "the turn has resumed" }],
  [
    "an MCP server that failed",
    { type: "mcp.status", server: "files", status: "failed", reason: "gone" },
    { severity: "warning", title: "MCP server files failed", description: "gone" },
  ],
])("sends %s as a live notice to clients that support notices", async (_, body, notice) => {
  const { live, later } = await collectUpdates([body]);
  expect([live[0], later]).toMatchObject([notice, []]);
  expect((await collectUpdates([body], {})).live).toEqual([]);
});

it("sends tool output while it grows, and only the final output after a load", async () => {
  const { live, later } = await collectUpdates([
    { type: "tool.started", ...TOOL },
    { type: "tool.updated", toolId: "t1", text: "a", title: "Edit b.ts" },
    { type: "tool.updated", toolId: "t1", text: "b", locations: [{ path: "/b" }] },
    { type: "tool.updated", toolId: "t1", text: "c" },
    { type: "tool.ended", toolId: "t1", outcome: "timed_out", text: "abc" },
  ]);
  const said = (text: string) => [{ type: "content", content: { type: "text", text } }];
  const end = { status: "failed", content: said("abc"), _meta: { rookery: { outcome: "timed_out" } } };
  expect(live.slice(1)).toMatchObject([
    { title: "Edit b.ts", content: said("a") },
    { locations: [{ path: "/b" }], content: said("abc") },
    end,
  ]);
  expect(later.slice(1)).toMatchObject([{ title: "Edit b.ts" }, { locations: [{ path: "/b" }] }, end]);
});
