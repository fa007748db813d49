import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { EventBody, SessionEvent } from "../../domain/events.ts";
import { openMemoryStore } from "../../store/memory.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { openTestSession } from "../sessions/test-sessions.ts";
import { readLastMessage, readLastTurns } from "./last-turns.ts";
import { loadMessageRenderer } from "./message-renderer.ts";
import {
  EMPTY_TRANSCRIPT,
  renderTranscriptEvent,
  renderUnfinished,
  startLiveTranscript,
  type TranscriptOptions,
  type TranscriptView,
} from "./transcript.ts";

type Body = EventBody & { sessionId?: string };

const AT = "2026-01-01T00:00:00.000Z";
const OPTIONS: TranscriptOptions = { paint: plainPaint };

function render(bodies: readonly Body[], options = OPTIONS, start = EMPTY_TRANSCRIPT): [TranscriptView, string] {
  return bodies.reduce<[TranscriptView, string]>(
    ([view, text], body, index) => {
      const event = { sessionId: "ses_1", seq: index + 1, at: AT, turnId: "t", agent: "a", ...body } as SessionEvent;
      const [next, more] = renderTranscriptEvent(view, event, options);
      return [next, text + more];
    },
    [start, ""],
  );
}

const started = (text: string, more: { sessionId?: string } = {}): Body => ({
  type: "turn.started",
  input: [{ type: "text", text }],
  ...more,
});
const delta = (text: string, messageId = "m1", more: { sessionId?: string } = {}): Body => ({
  type: "message.delta",
  messageId,
  text,
  ...more,
});
const completed = (text: string, messageId = "m1", more: { sessionId?: string } = {}): Body => ({
  type: "message.completed",
  messageId,
  text,
  ...more,
});
const ended: Body = { type: "turn.ended", outcome: { status: "done" } };
const tool: Body = { type: "tool.started", toolId: "t1", name: "bash", title: "bash: ls", kind: "execute", input: {} };
const toolEnded: Body = { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" };

it("prints prompts with a mark, whole messages, tools and the end of each turn", () => {
  const first = [started("Fix it\nplease"), delta("I "), delta("look"), completed("I look"), tool, toolEnded, ended];
  expect(render([...first, started("And now?"), completed("Done."), ended])[1]).toBe(
    "› Fix it\n  please\nI look\n✓ bash: ls\ndone · 0.0s\n\n› And now?\nDone.\ndone · 0.0s\n",
  );
});

it.each<[string, Body[], string]>([
  ["a message that was abandoned", [delta("Hel"), delta("Hi", "m2"), completed("Hi", "m2")], "Hel…\nHi\n"],
  ["a message that the end of the turn cut", [delta("Hel"), ended], "Hel…\ndone · 0.0s\n"],
  [
    "why a turn failed",
    [{ type: "turn.ended", outcome: { status: "failed", code: "agent_failed", message: "no\u001b[1m key" } }],
    "failed · 0.0s\n! no[1m key\n",
  ],
  [
    "what a person said while the agent worked",
    [{ type: "input.delivered", inputId: "i", input: [{ type: "text", text: "rather so" }] }],
    "\n› rather so\n",
  ],
  ["no control sequences of a prompt", [started("a\u001b[31mb")], "\n› a[31mb\n"],
  ["a long prompt in part", [started("x\n".repeat(40))], `\n› x\n${"  x\n".repeat(29)}  …\n`],
])("prints %s", (_, bodies, expected) => {
  expect(render([started("go"), ...bodies])[1]).toBe(`› go\n${expected}`);
});

const question: Body = { type: "question.asked", requestId: "q", message: "Which database?" };
const permission: Body = {
  type: "permission.requested",
  requestId: "r",
  toolId: "t1",
  tool: "bash",
  title: "bash: ls",
  kind: "execute",
  input: {},
};

it.each<[string, Body[], string]>([
  [
    "a question and its answer",
    [
      question,
      { type: "question.answered", requestId: "q", action: "accept", content: { db: "SQLite" }, by: "person" },
    ],
    "? Which database? → SQLite\n",
  ],
  [
    "a question that was declined",
    [question, { type: "question.answered", requestId: "q", action: "decline", by: "person" }],
    "? Which database? → declined\n",
  ],
  [
    "why a person denied a tool",
    [
      tool,
      permission,
      {
        type: "permission.resolved",
        requestId: "r",
        decision: "deny",
        scope: "once",
        by: "person",
        message: "use make",
      },
      { type: "tool.ended", toolId: "t1", outcome: "denied", text: "" },
    ],
    "⊘ bash: ls — denied: use make\n",
  ],
  [
    "paths relative to the working directory",
    [
      { type: "session.opened", backend: "api", cwd: "/w/tree", permissions: "ask" },
      { type: "tool.started", toolId: "t1", name: "read", title: "Read /w/tree/src/a.ts", kind: "read", input: {} },
      {
        type: "tool.ended",
        toolId: "t1",
        outcome: "ok",
        text: "",
        diffs: [{ path: "/w/tree/b.txt", before: null, after: "x\n" }],
      },
    ],
    "✓ Read src/a.ts\n  b.txt new file +1\n  1 + x\n",
  ],
])("prints %s", (_, bodies, expected) => {
  expect(render(bodies)[1]).toBe(expected);
});

it("keeps messages of sessions that work at the same time apart", () => {
  const other = { sessionId: "ses_2" };
  const bodies = [
    delta("one "),
    delta("two ", "m2", other),
    delta("more"),
    completed("one more"),
    completed("two", "m2", other),
  ];
  expect(render(bodies)[1]).toBe("one more\ntwo\n");
});

it("prints a message while it streams after what was recorded of it", () => {
  const [view] = render([delta("Hel")]);
  const [live, text] = startLiveTranscript(view, { ...OPTIONS, live: true });
  expect(text).toBe("Hel");
  expect(render([delta("lo"), completed("Hello")], { ...OPTIONS, live: true }, live)[1]).toBe("lo\n");
});

it("prints an unfinished message at the end of a log", () => {
  expect(renderUnfinished(render([delta("Hel"), delta("lo")])[0], OPTIONS)[1]).toBe("Hello…\n");
});

it("prints colors only on request", () => {
  expect(render([started("go")], { paint: ansiPaint })[1]).toBe("\u001b[1m› go\u001b[22m\n");
});

it("reads the last turns of a long log without its beginning", async () => {
  const store = openMemoryStore();
  await openTestSession(store, "ses_1");
  const append = async (bodies: readonly Body[]): Promise<void> => {
    const { head = 0 } = (await store.summary("ses_1")) ?? {};
    const events = bodies.map((body) => ({ at: AT, agent: "a", turnId: "t", ...body }));
    await store.append({ sessionId: "ses_1", id: `app_${head}`, expectedHead: head, events });
  };
  const deltas = Array.from({ length: 20_000 }, (_, index) => delta(`${index} `));
  for (const prompt of ["one", "two", "three"]) await append([started(prompt), completed(`to ${prompt}`), ended]);
  expect((await readLastTurns(store, "ses_1", 2)).map(({ type }) => type)).toEqual([
    ...["turn.started", "message.completed", "turn.ended"],
    ...["turn.started", "message.completed", "turn.ended"],
  ]);
  expect(await readLastTurns(store, "ses_1", 9)).toHaveLength(10);
  expect(await readLastMessage(store, "ses_1")).toBe("to three");
  await append([started("four"), ...deltas]);
  expect(await readLastTurns(store, "ses_1", 1)).toHaveLength(16_000);
  expect(await readLastMessage(store, "ses_1")).toBeUndefined();
});

describe("on a terminal with colors", async () => {
  const messages = await loadMessageRenderer({ env: {}, stdout: Object.assign(new PassThrough(), { isTTY: true }) });
  const STYLED: TranscriptOptions = { paint: plainPaint, messages, columns: 20 };
  const bold = (text: string) => ansiPaint("bold", text);

  it("renders messages as Markdown between empty lines, wrapped at words", () => {
    const text = "One **two** three four five\n\n- a\n- b";
    expect(render([started("go"), completed(text), tool, toolEnded, tool, toolEnded, ended], STYLED)[1]).toBe(
      `› go\n\nOne ${bold("two")} three four\nfive\n\n• a\n• b\n\n✓ bash: ls\n✓ bash: ls\ndone · 0.0s\n`,
    );
  });

  it("prints a block when it is complete, and the rest before the next tool", () => {
    const live = { ...STYLED, live: true };
    const [first, text] = render([delta("# Title\n\nSome "), delta("te")], live);
    expect(text).toBe(`${bold(ansiPaint("underline", "Title"))}\n`);
    expect(render([tool, toolEnded, delta("xt"), completed("…")], live, first)[1]).toBe(
      "\nSome te\n\n✓ bash: ls\n\nxt\n",
    );
    expect(renderUnfinished(first, live)[1]).toBe("\nSome te\n");
  });

  it("prints a message that was abandoned, and its end", () => {
    expect(render([delta("**Hel**"), delta("Hi", "m2"), completed("Hi", "m2")], STYLED)[1]).toBe(
      `${bold("Hel")}\n\n…\n\nHi\n`,
    );
  });

  it("wraps the title of a tool at words", () => {
    const long: Body = { ...tool, title: "bash: npm run build then test" };
    expect(render([long, toolEnded], STYLED)[1]).toBe("✓ bash: npm run\n  build then test\n");
  });

  it("escapes control characters in a message", () => {
    expect(render([completed("a\u001b[2Jb\u202e\u200bc")], STYLED)[1]).toBe("a[2Jbc\n");
  });
});

it.each([
  ["a pipe", {}, false],
  ["NO_COLOR", { NO_COLOR: "1" }, true],
  ["TERM=dumb", { TERM: "dumb" }, true],
])("keeps the source of messages with %s", async (_, env, isTTY) => {
  expect(await loadMessageRenderer({ env, stdout: Object.assign(new PassThrough(), { isTTY }) })).toBeUndefined();
});

describe("programs", () => {
  const session = { folder: "/tmp/x/proj" };
  const call = (title: string, kind: "edit" | "execute" | "read"): Body => ({
    type: "tool.started",
    toolId: "t1",
    name: title,
    title,
    kind,
    input: {},
  });
  const ended: Body = { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" };

  it("adds the path to a tool of opencode, whose title only names the tool", () => {
    const locations = [{ path: "/tmp/x/proj/src/a.ts" }];
    const update: Body = { type: "tool.updated", toolId: "t1", title: "read", locations };
    expect(render([call("read", "read"), update, ended], { ...OPTIONS, ...session })[1]).toBe("✓ read src/a.ts\n");
    const started = { ...call("read", "read"), locations } as Body;
    expect(render([started, ended], { ...OPTIONS, ...session })[1]).toBe("✓ read src/a.ts\n");
    const command: Body = { ...update, title: "touch '/tmp/x/proj/a'", locations: [{ path: "/tmp/x/proj" }] };
    expect(render([call("bash", "execute"), command, ended], { ...OPTIONS, ...session })[1]).toBe("✓ touch 'a'\n");
  });

  it.each([
    ["once", "✓ edit — allowed by you\n"],
    ["session", "✓ edit — always allowed by you\n"],
  ] as const)("says that a person allowed a tool: %s", (scope, text) => {
    const asked = { requestId: "r1", toolId: "t1", tool: "edit", title: "edit", kind: "edit" as const, input: {} };
    const events: Body[] = [
      call("edit", "edit"),
      { type: "permission.requested", ...asked },
      { type: "permission.resolved", requestId: "r1", decision: "allow", scope, by: "person" },
      ended,
    ];
    expect(render(events)[1]).toBe(text);
  });

  it("prints an unfinished message before the notice that the turn resumes", () => {
    const notice: Body = { type: "notice", level: "info", code: "turn_resumed", message: "the turn resumes" };
    expect(render([started("go"), delta("Two is cut"), notice])[1]).toBe("› go\nTwo is cut…\nthe turn resumes\n");
  });
});
