import { describe, expect, it } from "vitest";
import type { EventBody, SessionEvent } from "../../domain/events.ts";
import { ansiPaint, type Paint, plainPaint } from "../paint.ts";
import { renderEvent } from "./render-event.ts";
import { EMPTY_TURN_VIEW, type TurnView, formatActivity, formatRunningOutput } from "./turn-view.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");

/** Events are one second apart. */
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
const tool = (toolId = "t1", title = "bash: npm test", kind: "execute" | "edit" = "execute"): EventBody => ({
  type: "tool.started",
  toolId,
  name: "bash",
  title,
  kind,
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
const permission = (title: string): EventBody => ({
  type: "permission.requested",
  requestId: "r1",
  toolId: "t1",
  tool: "bash",
  title,
  kind: "execute",
  input: {},
});
const interrupted: EventBody = {
  type: "permission.resolved",
  requestId: "r1",
  decision: "cancelled",
  scope: "once",
  by: "policy",
};
const ended: EventBody = { type: "turn.ended", outcome: { status: "done" } };

describe("renderEvent", () => {
  it.each<[string, EventBody[], string]>([
    ["prints text as it streams", [delta("Hel"), delta("lo"), completed("Hello")], "Hello\n"],
    ["prints text that arrives at once", [completed("Hello\n")], "Hello\n"],
    ["prints no blank line after text with a line break", [delta("Hello\n"), completed("Hello\n")], "Hello\n"],
    ["prints nothing for a message that only calls tools", [completed("")], ""],
    ["marks an abandoned message", [delta("Hel"), delta("Hi", "m2"), completed("Hi", "m2")], "Hel…\nHi\n"],
    ["prints a line for a successful tool", [tool(), toolEnded("ok")], "✓ bash: npm test · 1.0s\n"],
    [
      "prints why a tool failed",
      [tool(), toolEnded("failed", "a\nb\n[exit code 1]\n")],
      "✗ bash: npm test — exit code 1 · 1.0s\n",
    ],
    [
      "prints the first line of a failed edit, not the lines of the file that follow",
      [
        tool("t1", "edit a.ts", "edit"),
        toolEnded("failed", "old_text was not found. The closest line is 2:\n2\tx\n3\t}"),
      ],
      "✗ edit a.ts — failed: old_text was not found. The closest line is 2\n",
    ],
    ["prints a denied tool", [tool(), toolEnded("denied", "long words")], "⊘ bash: npm test — denied\n"],
    ["prints a cancelled tool", [tool(), toolEnded("cancelled")], "⊘ bash: npm test — cancelled · 1.0s\n"],
    [
      "prints a call that was interrupted at its permission question",
      [permission("bash: npm test"), interrupted],
      "⊘ bash: npm test — interrupted\n",
    ],
    [
      "prints it once if the agent had started the tool",
      [tool(), permission("bash: npm test"), interrupted, toolEnded("cancelled")],
      "⊘ bash: npm test — interrupted\n",
    ],
    [
      "prints it once if the agent ends the tool before the question is withdrawn",
      [tool(), permission("bash: npm test"), toolEnded("cancelled"), interrupted],
      "⊘ bash: npm test — interrupted\n",
    ],
    [
      "prints the failure alone if the agent gives up the tool before the question is withdrawn",
      [tool(), permission("bash: npm test"), toolEnded("failed", "aborted"), interrupted],
      "✗ bash: npm test — failed: aborted · 2.0s\n",
    ],
    ["prints a tool that timed out", [tool(), toolEnded("timed_out")], "✗ bash: npm test — timed out · 1.0s\n"],
    [
      "prints a tool with an unknown outcome",
      [tool(), toolEnded("unknown")],
      "? bash: npm test — may or may not have run\n",
    ],
    ["prints a tool on a new line", [delta("So"), tool(), toolEnded("ok")], "So\n✓ bash: npm test · 1.0s\n"],
    ["prints a title on one line", [tool("t1", "bash: a\nb"), toolEnded("ok")], "✓ bash: a b · 1.0s\n"],
    ["prints warnings", [{ type: "notice", level: "warning", code: "x", message: "careful" }], "! careful\n"],
    [
      "prints servers with problems and how to fix them, and no others",
      [
        { type: "mcp.status", server: "files", status: "connecting" },
        { type: "mcp.status", server: "files", status: "ready" },
        { type: "mcp.status", server: "hub", status: "needs_login", reason: "401", fix: "`rookery mcp auth hub`" },
      ],
      "! MCP server hub: needs login; 401; try: `rookery mcp auth hub`\n",
    ],
    [
      "prints the same warning about a server once, also in a later turn",
      [
        { type: "mcp.status", server: "hub", status: "failed", reason: "gone" },
        { type: "mcp.status", server: "hub", status: "failed", reason: "gone" },
        started,
        { type: "mcp.status", server: "hub", status: "failed", reason: "gone" },
        { type: "mcp.status", server: "hub", status: "failed", reason: "other" },
      ],
      "! MCP server hub: failed; gone\n! MCP server hub: failed; other\n",
    ],
    [
      "prints the items of the plan",
      [
        {
          type: "plan.updated",
          entries: [
            { content: "Read", status: "completed" },
            { content: "Fix", status: "pending" },
          ],
        },
      ],
      "plan: 1 of 2 done\n  ✓ Read\n  · Fix\n",
    ],
    ["prints no output of a server", [{ type: "output.text", text: "up", from: "mcp files" }], ""],
    ["prints no thoughts", [{ type: "thought.delta", messageId: "m1", text: "hm" }], ""],
    [
      "removes escape sequences from names",
      [
        { type: "tool.ended", toolId: "constructor\u001b[1m", outcome: "ok", text: "" },
        { type: "agent.switched", from: "a", to: "b\u001b[1m" },
        { type: "subagent.started", childSessionId: "s\u009b", title: "t\r" },
      ],
      "✓ constructor[1m\nagent: b[1m\nstarted t (s)\n",
    ],
    ["prints a tool without a start", [toolEndedOf("constructor")], "✓ constructor\n"],
    ["removes escape sequences", [delta("a\u001b[31mb\u009b1mc\r\n"), completed("")], "a[31mb1mc\n"],
  ])("%s", (_, bodies, expected) => {
    expect(shown([started, ...bodies]).text).toBe(expected);
  });
});

describe("the summary of a turn", () => {
  const usage = (more: object): EventBody => ({ type: "usage.reported", inputTokens: 1234, outputTokens: 56, ...more });
  it.each<[string, EventBody[], string]>([
    [
      "has a computed cost",
      [usage({ costUsd: 1, costBy: "computed" })],
      "done · 1,234 tokens in · 56 out · $1.00 (computed) · 2.0s\n",
    ],
    [
      "has a partly computed cost",
      [usage({ costUsd: 1, costBy: "computed" }), usage({ costUsd: 1, costBy: "reported" })],
      "done · 2,468 tokens in · 112 out · $2.00 (partly computed) · 3.0s\n",
    ],
    ["has tokens, cost and time", [usage({ costUsd: 0.01234 })], "done · 1,234 tokens in · 56 out · $0.0123 · 2.0s\n"],
    [
      "has the sum of all calls",
      [usage({ costUsd: 1 }), usage({ costUsd: 1 })],
      "done · 2,468 tokens in · 112 out · $2.00 · 3.0s\n",
    ],
    [
      "has the cached tokens",
      [usage({ cacheReadTokens: 1000 })],
      "done · 1,234 tokens in (1,000 from cache) · 56 out · cost unknown · 2.0s\n",
    ],
    [
      "has an unknown sum if one cost is unknown",
      [usage({ costUsd: 1 }), usage({})],
      "done · 2,468 tokens in · 112 out · cost unknown · 3.0s\n",
    ],
    ["has only the time if nothing was reported", [], "done · 1.0s\n"],
    ["has only the time if nothing was counted", [usage({ inputTokens: 0, outputTokens: 0 })], "done · 2.0s\n"],
    [
      "has the cost that a program reports without tokens",
      [usage({ inputTokens: 0, outputTokens: 0, costUsd: 0.5 })],
      "done · $0.5000 · 2.0s\n",
    ],
  ])("%s", (_, bodies, expected) => {
    expect(shown([started, ...bodies, ended]).text).toBe(expected);
  });

  it("excludes the previous turn", () => {
    const { text, view } = shown([started, usage({ costUsd: 1 }), tool(), toolEnded("denied"), ended, started, ended]);
    expect(text.split("\n").at(-2)).toBe("done · 1.0s");
    expect(view.refused).toEqual([]);
  });
});

describe("a parked turn", () => {
  const until = "2026-01-01T05:00:05.000Z";
  const parked: EventBody = { type: "turn.parked", until, message: "5-hour limit\u001b[1m reached" };
  const time = new Date(until).toLocaleString("sv");

  it("is printed with its time, and again when it continues", () => {
    const { text } = shown([started, { type: "limit.reached", message: "x" }, parked, { type: "turn.continued" }]);
    expect(text).toBe(`! 5-hour limit[1m reached; the turn waits until ${time}\nthe turn continues\n`);
  });

  it("is the label of the spinner until it continues or ends", () => {
    expect(formatActivity(shown([started, parked]).view)).toBe(`waiting for a limit to reset, until ${time}`);
    expect(formatActivity(shown([started, parked, { type: "turn.continued" }]).view)).toBe("thinking");
    expect(shown([started, parked, ended]).view.parkedUntil).toBeUndefined();
  });
});

it("labels the spinner with the running tools or the model", () => {
  expect(formatActivity(shown([started]).view)).toBe("thinking");
  expect(formatActivity(shown([started, tool("t1"), tool("t2", "read a")]).view)).toBe("bash: npm test, read a");
  expect(formatActivity(shown([started, tool("t1"), toolEnded("ok")]).view)).toBe("thinking");
});

it("remembers denied tools until the next turn", () => {
  expect(shown([started, tool(), toolEnded("denied"), ended]).view.refused).toEqual(["bash: npm test"]);
});

it("prints colors only on request", () => {
  expect(shown([started, tool(), toolEnded("ok")], ansiPaint).text).toBe(
    "\u001b[32m✓\u001b[39m bash: npm test\u001b[2m · 1.0s\u001b[22m\n",
  );
});

describe("the diff of an edit", () => {
  const diffs = [{ path: "a.txt", before: "one\n", after: "two\n" }];
  const edited: EventBody = { type: "tool.ended", toolId: "t1", outcome: "ok", text: "changed", diffs };
  const asked: EventBody = {
    type: "permission.requested",
    requestId: "r1",
    toolId: "t1",
    tool: "edit",
    title: "edit a.txt",
    kind: "edit",
    input: {},
    diffs,
  };
  const diff = "  a.txt +1 -1\n  1 - one\n  1 + two\n";

  it("follows the tool line", () => {
    expect(shown([tool("t1", "edit a.txt", "edit"), edited]).text).toBe(`✓ edit a.txt\n${diff}`);
  });

  it("is not repeated if the permission request had it", () => {
    expect(shown([asked, tool("t1", "edit a.txt", "edit"), edited]).text).toBe("✓ edit a.txt\n");
    expect(shown([{ ...asked, toolId: "t2" }, tool("t1", "edit a.txt", "edit"), edited]).text).toContain(diff);
  });
});

describe("a running command", () => {
  const printed = (text: string, toolId = "t1"): EventBody => ({ type: "tool.updated", toolId, text });
  const tailOf = (bodies: EventBody[], lines = 5) => formatRunningOutput(shown(bodies).view, { width: 20, lines });
  const asked: EventBody = {
    type: "permission.requested",
    requestId: "r1",
    toolId: "t1",
    tool: "bash",
    title: "bash: npm test",
    kind: "execute",
    input: {},
  };
  const allowed: EventBody = {
    type: "permission.resolved",
    requestId: "r1",
    decision: "allow",
    scope: "once",
    by: "person",
  };

  it("has the last lines of its output below it until it ends", () => {
    const output = [started, tool(), printed("1\n2\n3\n"), printed("4\n5\n6")];
    expect(tailOf(output)).toEqual(["2", "3", "4", "5", "6"]);
    expect(tailOf(output, 2)).toEqual(["5", "6"]);
    expect(tailOf([...output, toolEnded("ok")])).toEqual([]);
  });

  it("shows the one of several that printed last", () => {
    expect(tailOf([started, tool(), tool("t2"), printed("one"), printed("two", "t2"), printed("three")])).toEqual([
      "onethree",
    ]);
  });

  it("does not count the time that a person needed to allow it", () => {
    expect(shown([started, tool(), asked, printed("x"), allowed, toolEnded("ok")]).text).toContain("· 1.0s");
  });

  it.each([
    ["Exit code 2\nno such file", "exit code 2"],
    ["no such file\nexit code 127", "exit code 127"],
    ["out\n[exit code 1]", "exit code 1"],
    ["out\n[killed by SIGKILL]", "failed: [killed by SIGKILL]"],
  ])("shows the exit code of %j", (text, how) => {
    expect(shown([tool(), toolEnded("failed", text)]).text).toBe(`✗ bash: npm test — ${how} · 1.0s\n`);
  });
});
