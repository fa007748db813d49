import { describe, expect, it } from "vitest";
import type { EventBody, SessionEvent } from "../../../domain/events.ts";
import { plainPaint } from "../../paint.ts";
import { formatStatusLine } from "../../tui/status-line.ts";
import { type ChatState, EMPTY_CHAT, foldChatEvent } from "./fold.ts";
import { chatFacts, renderChatBlock, renderProgress } from "./view.ts";

const STYLE = { width: 60, paint: plainPaint };

function fold(bodies: readonly EventBody[]): { state: ChatState; lines: string[] } {
  let state = EMPTY_CHAT;
  const lines: string[] = [];
  let previous: Parameters<typeof renderChatBlock>[1];
  bodies.forEach((body, index) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    const event = { ...body, seq: index + 1, at, sessionId: "ses_1", turnId: "trn_1", agent: "claude" } as SessionEvent;
    const step = foldChatEvent(state, event, plainPaint);
    state = step.state;
    for (const block of step.blocks) {
      lines.push(...renderChatBlock(block, previous, STYLE));
      previous = block.type;
    }
  });
  return { state, lines };
}

const STARTED: EventBody = { type: "turn.started", input: [{ type: "text", text: "hi\nthere" }] };
const delta = (text: string, messageId = "m1"): EventBody => ({ type: "message.delta", messageId, text });
const tool: EventBody = {
  type: "tool.started",
  toolId: "t1",
  name: "bash",
  title: "npm test",
  kind: "execute",
  input: {},
};

it("prints a turn in order: prompt, thinking, message, tool, summary", () => {
  const { lines, state } = fold([
    STARTED,
    { type: "thought.delta", messageId: "m1", text: "hm" },
    { type: "thought.delta", messageId: "m1", text: "so" },
    delta("One.\n\nTwo"),
    delta(" and more."),
    { type: "message.completed", messageId: "m1", text: "One.\n\nTwo and more." },
    tool,
    { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" },
    { type: "turn.ended", outcome: { status: "done" } },
  ]);
  const text = lines.join("\n");
  expect(text).toMatch(/^❯ hi\n {2}there\n\nthought for 1\.0s\n\nOne\.\n\nTwo and more\.\n\n✓ npm test/);
  expect(text).toContain("\ndone ·");
  expect(state).toMatchObject({ runningSince: undefined, message: undefined, thinking: undefined });
});

describe("the live region", () => {
  it("shows only the open part of a message", () => {
    const { state, lines } = fold([STARTED, delta("Closed.\n\nOpen **par")]);
    expect(lines.join("\n")).toContain("Closed.");
    const live = renderProgress(state, Date.UTC(2026, 0, 1, 0, 0, 9), "*", STYLE);
    expect(live).toEqual(["", "Open **par", "", "* writing 9s · Esc interrupts"]);
  });

  it("shows running tools with the end of their output", () => {
    const { state } = fold([
      STARTED,
      tool,
      { type: "tool.updated", toolId: "t1", text: "1\n2\n3\n" },
      { type: "tool.updated", toolId: "t1", text: "4\n5\n6\n" },
    ]);
    const live = renderProgress(state, Date.UTC(2026, 0, 1, 0, 0, 5), "*", STYLE);
    expect(live).toEqual(["", "* npm test 4s · Esc interrupts", "  2", "  3", "  4", "  5", "  6"]);
  });

  it("shows queued inputs until they are delivered", () => {
    const queued: EventBody = {
      type: "input.queued",
      inputId: "i1",
      input: [{ type: "text", text: "wait" }],
      deliver: "steer",
    };
    const { state } = fold([STARTED, queued]);
    expect(renderProgress(state, 0, "*", STYLE)).toContain("⋯ for the next step: wait");
    const { state: after } = fold([STARTED, queued, { type: "input.delivered", inputId: "i1", input: [] }]);
    expect(after.queue).toEqual([]);
  });
});

it("keeps a request until it is answered, here or elsewhere", () => {
  const asked: EventBody = {
    type: "permission.requested",
    requestId: "r1",
    toolId: "t1",
    tool: "bash",
    title: "npm test",
    kind: "execute",
    input: { command: "npm test" },
  };
  expect(fold([STARTED, asked]).state.requests).toHaveLength(1);
  const answer: EventBody = {
    type: "permission.resolved",
    requestId: "r1",
    decision: "allow",
    scope: "once",
    by: "person",
  };
  expect(fold([STARTED, asked, answer]).state.requests).toEqual([]);
});

it("prints one entry for a call that was asked about, with the decision and the result", () => {
  const asked: EventBody = {
    type: "permission.requested",
    requestId: "r1",
    toolId: "t1",
    tool: "edit",
    title: "edit a.txt",
    kind: "edit",
    input: {},
    diffs: [{ path: "a.txt", before: "one\n", after: "two\n" }],
  };
  const started: EventBody = {
    ...tool,
    type: "tool.started",
    name: "edit",
    title: "edit a.txt",
    kind: "edit",
  } as const;
  const decided = (more: object): EventBody =>
    ({ type: "permission.resolved", requestId: "r1", scope: "once", by: "person", ...more }) as EventBody;
  const allowed = fold([
    started,
    asked,
    decided({ decision: "allow" }),
    { type: "tool.ended", toolId: "t1", outcome: "ok", text: "", diffs: asked.diffs },
  ]);
  expect(allowed.lines).toEqual(["✓ edit a.txt — allowed by you", "  a.txt +1 -1", "  1 - one", "  1 + two"]);
  const denied = fold([
    started,
    asked,
    decided({ decision: "deny", message: "use b.txt" }),
    { type: "tool.ended", toolId: "t1", outcome: "denied", text: "use b.txt" },
  ]);
  expect(denied.lines).toEqual(["⊘ edit a.txt — denied: use b.txt"]);
});

it("prints the rest of an abandoned message before the next one", () => {
  const { lines } = fold([
    STARTED,
    delta("half"),
    delta("whole", "m2"),
    { type: "turn.ended", outcome: { status: "cancelled" } },
  ]);
  expect(lines.join("\n")).toMatch(/half\n\nwhole\n\ncancelled/);
});

it("gives the facts of the status line", () => {
  const { state } = fold([
    { type: "session.opened", cwd: "/r", backend: "api", model: "m", permissions: "all" },
    { type: "usage.reported", inputTokens: 1_000, outputTokens: 234, contextUsed: 50, contextSize: 200, costUsd: 0.5 },
  ]);
  const facts = ["claude", "m", "permissions: all", "/r", "main", "25% context", "1,234 tokens", "$0.5000", ""];
  expect(statusTexts(state)).toEqual(facts);
});

it("shows the time of the running turn in the status line, and then how long it took", () => {
  const { state } = fold([STARTED, delta("a")]);
  expect(statusTexts(state).at(-1)).toBe("running 1m 5s");
  const { state: after } = fold([STARTED, delta("a"), { type: "turn.ended", outcome: { status: "done" } }]);
  expect(statusTexts(after).at(-1)).toBe("took 2.0s");
});

it("leaves out facts of the status line that do not fit", () => {
  const { state } = fold([
    { type: "session.opened", cwd: "/r", backend: "api", model: "a-model", permissions: "ask" },
    { type: "usage.reported", inputTokens: 1_000, outputTokens: 234, costUsd: 0.5 },
    STARTED,
  ]);
  const line = (width: number) => formatStatusLine(statusFacts(state), width);
  expect(line(80)).toBe("claude · a-model · /r · main · 1,234 tokens · $0.5000 · running 1m 3s");
  expect(line(40)).toBe("claude · a-model · /r · main · $0.5000");
  expect(line(20)).toBe("claude · a-model");
  expect(line(10)).toBe("claude");
});

it.each([
  [60, "anthropic · claude-sonnet-5 · 12% context · $0.5000"],
  [80, "anthropic · claude-sonnet-5 · …/billing · 12% context · $0.5000 · running 1m 3s"],
  [100, "anthropic · claude-sonnet-5 · …/billing · feature/invoices-with-… · 12% context · $0.5000"],
  [
    120,
    "anthropic · claude-sonnet-5 · …/billing · feature/invoices-with-… · 12% context · 1,234 tokens · $0.5000 · running 1m 3s",
  ],
])("shows the most useful facts in %i columns, and cuts no word", (width, expected) => {
  const model = "anthropic/claude-sonnet-5";
  const { state } = fold([
    { type: "session.opened", cwd: "/r", backend: "api", model, permissions: "ask" },
    { type: "usage.reported", inputTokens: 1_000, outputTokens: 234, costUsd: 0.5, contextUsed: 12, contextSize: 100 },
    STARTED,
  ]);
  const facts = chatFacts(
    { ...state, agent: "anthropic" },
    {
      directory: "/home/me/work/clients/acme/services/billing",
      home: "/home/me",
      branch: "feature/invoices-with-several-currencies-and-rounding",
      now: Date.UTC(2026, 0, 1, 0, 1, 5),
    },
  );
  expect(formatStatusLine(facts, width)).toBe(expected);
});

it("keeps the end of a failed command's output", () => {
  const output = Array.from({ length: 30 }, (_, index) => `out ${index + 1}`).join("\n");
  const { lines, state } = fold([
    STARTED,
    tool,
    { type: "tool.ended", toolId: "t1", outcome: "failed", text: `${output}\n[exit code: 3]` },
  ]);
  expect(lines.slice(-7)).toEqual([
    "✗ npm test — exit code 3 · 1.0s",
    "  … 25 earlier lines",
    ...["out 26", "out 27", "out 28", "out 29", "out 30"].map((line) => `  ${line}`),
  ]);
  expect(state.lastOutput).toMatchObject({ title: "npm test", text: output });
});

it("says why a turn failed", () => {
  const outcome = { status: "failed", code: "provider_auth", message: "the key was refused" } as const;
  const { lines } = fold([STARTED, { type: "turn.ended", outcome }]);
  expect(lines.join("\n")).toMatch(/\n\n! the key was refused\nfailed · /);
});

function statusFacts(state: ChatState) {
  return chatFacts(state, { directory: "/r", branch: "main", now: Date.UTC(2026, 0, 1, 0, 1, 5) });
}

function statusTexts(state: ChatState): string[] {
  return statusFacts(state).map(({ text }) => text);
}
