import { describe, expect, it } from "vitest";
import type { EventBody, SessionEvent } from "../../domain/events.ts";
import { ansiPaint, type Paint, plainPaint } from "../paint.ts";
import { EMPTY_TURN_VIEW, renderEvent, type TurnView, formatActivity } from "./turn-view.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");

/** Each event a second after the one before. */
function shown(bodies: readonly EventBody[], paint: Paint = plainPaint): { text: string; view: TurnView } {
  return bodies.reduce(
    ({ text, view }, body, index) => {
      const at = new Date(START + index * 1000).toISOString();
      const event = { ...body, seq: index + 1, at, sessionId: "ses_1", turnId: "trn_1", agent: "a" } as SessionEvent;
      const [next, more] = renderEvent(view, event, paint);
      return { view: next, text: text + more };
    },
    { text: "", view: EMPTY_TURN_VIEW },
  );
}

const started: EventBody = { type: "turn.started", input: [{ type: "text", text: "hi" }] };
const delta = (text: string, messageId = "m1"): EventBody => ({ type: "message.delta", messageId, text });
const completed = (text: string, messageId = "m1"): EventBody => ({ type: "message.completed", messageId, text });
const tool = (toolId = "t1", title = "bash: npm test"): EventBody => ({
  type: "tool.started",
  toolId,
  name: "bash",
  title,
  kind: "execute",
  input: {},
});
const toolEnded = (
  outcome: "ok" | "failed" | "denied" | "cancelled" | "timed_out" | "unknown",
  text = "",
): EventBody => ({
  type: "tool.ended",
  toolId: "t1",
  outcome,
  text,
});
const toolEndedOf = (toolId: string): EventBody => ({ type: "tool.ended", toolId, outcome: "ok", text: "" });
const ended: EventBody = { type: "turn.ended", outcome: { status: "done" } };

describe("a turn is shown", () => {
  it.each<[string, EventBody[], string]>([
    ["as its text, as it comes", [delta("Hel"), delta("lo"), completed("Hello")], "Hello\n"],
    ["with text that came in one piece", [completed("Hello\n")], "Hello\n"],
    ["without a blank line after text that ends its own", [delta("Hello\n"), completed("Hello\n")], "Hello\n"],
    ["with nothing for a message that only calls tools", [completed("")], ""],
    [
      "with a mark where a message was abandoned",
      [delta("Hel"), delta("Hi", "m2"), completed("Hi", "m2")],
      "Hel…\nHi\n",
    ],
    ["with a line for a tool that went well", [tool(), toolEnded("ok")], "✓ bash: npm test\n"],
    [
      "with why a tool failed",
      [tool(), toolEnded("failed", "a\nb\n[exit code 1]\n")],
      "✗ bash: npm test — failed: [exit code 1]\n",
    ],
    ["with a refusal", [tool(), toolEnded("denied", "long words")], "⊘ bash: npm test — refused\n"],
    ["with a cancellation", [tool(), toolEnded("cancelled")], "⊘ bash: npm test — cancelled\n"],
    ["with a tool that took too long", [tool(), toolEnded("timed_out")], "✗ bash: npm test — timed out\n"],
    ["with what nobody knows", [tool(), toolEnded("unknown")], "? bash: npm test — may or may not have happened\n"],
    ["with a tool on a line of its own", [delta("So"), tool(), toolEnded("ok")], "So\n✓ bash: npm test\n"],
    ["with a title on one line", [tool("t1", "bash: a\nb"), toolEnded("ok")], "✓ bash: a b\n"],
    ["with warnings", [{ type: "notice", level: "warning", code: "x", message: "careful" }], "! careful\n"],
    [
      "with a server that is not as it should be, and how to mend it, and no other",
      [
        { type: "mcp.status", server: "files", status: "connecting" },
        { type: "mcp.status", server: "files", status: "ready" },
        { type: "mcp.status", server: "hub", status: "needs_login", reason: "401", fix: "`rookery mcp auth hub`" },
      ],
      "! MCP server hub: needs login; 401; try `rookery mcp auth hub`\n",
    ],
    ["without what a server mutters", [{ type: "output.text", text: "up", from: "mcp files" }], ""],
    ["without thoughts", [{ type: "thought.delta", messageId: "m1", text: "hm" }], ""],
    [
      "without escape sequences in names",
      [
        { type: "tool.ended", toolId: "constructor\u001b[1m", outcome: "ok", text: "" },
        { type: "agent.switched", from: "a", to: "b\u001b[1m" },
        { type: "subagent.started", childSessionId: "s\u009b", title: "t\r" },
      ],
      "✓ constructor[1m\nagent: b[1m\nstarted t (s)\n",
    ],
    ["of a tool that was not begun", [toolEndedOf("constructor")], "✓ constructor\n"],
    ["without escape sequences", [delta("a\u001b[31mb\u009b1mc\r\n"), completed("")], "a[31mb1mc\n"],
  ])("%s", (_, bodies, expected) => {
    expect(shown([started, ...bodies]).text).toBe(expected);
  });
});

describe("the end of a turn says", () => {
  const usage = (more: object): EventBody => ({ type: "usage.reported", inputTokens: 1234, outputTokens: 56, ...more });
  it.each<[string, EventBody[], string]>([
    [
      "a cost that we computed",
      [usage({ costUsd: 1, costBy: "computed" })],
      "done · 1,234 tokens in · 56 out · $1.00 (computed) · 2.0s\n",
    ],
    [
      "a cost that we computed a part of",
      [usage({ costUsd: 1, costBy: "computed" }), usage({ costUsd: 1, costBy: "reported" })],
      "done · 2,468 tokens in · 112 out · $2.00 (partly computed) · 3.0s\n",
    ],
    ["tokens, cost and time", [usage({ costUsd: 0.01234 })], "done · 1,234 tokens in · 56 out · $0.0123 · 2.0s\n"],
    [
      "the sum of all calls",
      [usage({ costUsd: 1 }), usage({ costUsd: 1 })],
      "done · 2,468 tokens in · 112 out · $2.00 · 3.0s\n",
    ],
    [
      "what came from the cache",
      [usage({ cacheReadTokens: 1000 })],
      "done · 1,234 tokens in (1,000 from cache) · 56 out · cost unknown · 2.0s\n",
    ],
    [
      "that one unknown cost makes the sum unknown",
      [usage({ costUsd: 1 }), usage({})],
      "done · 2,468 tokens in · 112 out · cost unknown · 3.0s\n",
    ],
    ["only the time where nothing was reported", [], "done · 1.0s\n"],
  ])("%s", (_, bodies, expected) => {
    expect(shown([started, ...bodies, ended]).text).toBe(expected);
  });

  it("nothing of the turn before", () => {
    const { text, view } = shown([started, usage({ costUsd: 1 }), tool(), toolEnded("denied"), ended, started, ended]);
    expect(text.split("\n").at(-2)).toBe("done · 1.0s");
    expect(view.refused).toEqual([]);
  });
});

describe("a turn that waits for a limit to pass", () => {
  const until = "2026-01-01T05:00:05.000Z";
  const parked: EventBody = { type: "turn.parked", until, message: "5-hour limit\u001b[1m reached" };
  const time = new Date(until).toLocaleString("sv");

  it("is shown with its time, and when it goes on", () => {
    const { text } = shown([started, { type: "limit.reached", message: "x" }, parked, { type: "turn.continued" }]);
    expect(text).toBe(`! 5-hour limit[1m reached; the turn waits until ${time}\nthe turn goes on\n`);
  });

  it("is what is waited for, until it goes on or ends", () => {
    expect(formatActivity(shown([started, parked]).view)).toBe(`waiting for a limit to pass, until ${time}`);
    expect(formatActivity(shown([started, parked, { type: "turn.continued" }]).view)).toBe("thinking");
    expect(shown([started, parked, ended]).view.parkedUntil).toBeUndefined();
  });
});

it("what is waited for is the tools that run, or the model", () => {
  expect(formatActivity(shown([started]).view)).toBe("thinking");
  expect(formatActivity(shown([started, tool("t1"), tool("t2", "read a")]).view)).toBe("bash: npm test, read a");
  expect(formatActivity(shown([started, tool("t1"), toolEnded("ok")]).view)).toBe("thinking");
});

it("what was refused is remembered until the next turn", () => {
  expect(shown([started, tool(), toolEnded("denied"), ended]).view.refused).toEqual(["bash: npm test"]);
});

it("colours are added only where they are wanted", () => {
  expect(shown([started, tool(), toolEnded("ok")], ansiPaint).text).toBe("\u001b[32m✓\u001b[39m bash: npm test\n");
});
