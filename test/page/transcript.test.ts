import { describe, expect, it } from "vitest";
import type { EventBody, SessionEvent } from "../../src/domain/events.ts";
import type { TranscriptItem } from "../../web/src/session/transcript/items.ts";
import {
  countParts,
  joinParts,
  MAX_PART_LENGTH,
  partSource,
  appendText,
  NO_TEXT,
  toTextParts,
} from "../../web/src/session/transcript/text-parts.ts";
import { Transcript } from "../../web/src/session/transcript/transcript.ts";

type Draft = EventBody & { readonly turnId?: string | undefined };

function toLog(drafts: readonly Draft[]): SessionEvent[] {
  return drafts.map((draft, index) => ({
    turnId: "turn_1",
    ...draft,
    seq: index + 1,
    at: new Date(index * 1_000).toISOString(),
    sessionId: "ses_1",
    agent: "a",
  }));
}

function foldLog(events: readonly SessionEvent[]): Transcript {
  const transcript = new Transcript();
  for (const event of events) transcript.add(event);
  return transcript;
}

/** Folds the last page, then adds the older pages one by one. */
function foldBackwards(events: readonly SessionEvent[], borders: readonly number[]): Transcript {
  const starts = [0, ...borders];
  const pages = starts.map((start, index) => events.slice(start, borders[index] ?? events.length));
  const transcript = foldLog(pages.pop() ?? []);
  for (const page of pages.reverse()) transcript.prepend(foldLog(page));
  return transcript;
}

function listItems(transcript: Transcript): unknown[] {
  return transcript.slots.map(({ item }) => {
    const { key: _, ...rest } = item;
    return "text" in rest && typeof rest.text !== "string" ? { ...rest, text: joinParts(rest.text) } : rest;
  });
}

function describeItem({ item }: { readonly item: TranscriptItem }): string {
  switch (item.kind) {
    case "prompt":
      return `${item.isSteered ? "steered" : "prompt"} ${item.input.map((part) => (part.type === "text" ? part.text : "")).join()}`;
    case "message":
      return `message ${joinParts(item.text)} (${item.state})`;
    case "thought":
      return `thought ${joinParts(item.text)}`;
    case "tool":
      return `tool ${item.title} ${item.outcome ?? "running"}: ${item.text}`;
    case "request":
      return `request ${item.request?.type ?? "unknown"}: ${item.isObsolete ? "obsolete" : (item.answer?.type ?? "open")}`;
    case "plan":
      return `plan ${item.entries.map(({ status }) => status).join()}`;
    case "notice":
      return `notice ${item.text}${item.count > 1 ? ` x${item.count}` : ""}`;
    case "output":
      return `output ${item.text}`;
    case "subagent":
      return `subagent ${item.title}: ${typeof item.outcome === "object" ? item.outcome.status : (item.outcome ?? "running")}`;
    case "turn_end":
      return `end ${item.outcome.status} after ${item.startedAt === undefined ? "?" : Date.parse(item.at) - Date.parse(item.startedAt)} ms, ${item.usage?.inputTokens ?? 0} tokens`;
  }
}

const describeAll = (transcript: Transcript): string[] => transcript.slots.map(describeItem);

const text = (value: string) => [{ type: "text" as const, text: value }];
const prompt = (value: string): Draft => ({ type: "turn.started", input: text(value) });
const done: Draft = { type: "turn.ended", outcome: { status: "done" } };
const delta = (messageId: string, value: string): Draft => ({ type: "message.delta", messageId, text: value });
const completed = (messageId: string, value: string): Draft => ({ type: "message.completed", messageId, text: value });
const tool = (toolId: string): Draft => ({
  type: "tool.started",
  toolId,
  name: "bash",
  title: `run ${toolId}`,
  kind: "execute",
  input: {},
});
const output = (toolId: string, value: string): Draft => ({ type: "tool.updated", toolId, text: value });
const ended = (toolId: string, value: string): Draft => ({ type: "tool.ended", toolId, outcome: "ok", text: value });
const permission = (requestId: string): Draft => ({
  type: "permission.requested",
  requestId,
  toolId: "t",
  tool: "bash",
  title: "run",
  kind: "execute",
  input: {},
});
const allowed = (requestId: string): Draft => ({
  type: "permission.resolved",
  requestId,
  decision: "allow",
  scope: "once",
  by: "person",
});
const usage: Draft = { type: "usage.reported", inputTokens: 5, outputTokens: 1 };
const warning: Draft = { type: "notice", level: "warning", code: "x", message: "again" };

describe("a transcript", () => {
  it("has an item for what a reader sees", () => {
    const log = toLog([
      prompt("hi"),
      { type: "thought.delta", messageId: "m1", text: "hm " },
      { type: "thought.delta", messageId: "m1", text: "hm" },
      delta("m1", "Hello"),
      delta("m1", " there"),
      completed("m1", "Hello there"),
      permission("r1"),
      allowed("r1"),
      tool("t1"),
      output("t1", "out"),
      ended("t1", "output"),
      { type: "plan.updated", entries: [{ content: "a", status: "pending" }] },
      { type: "plan.updated", entries: [{ content: "a", status: "completed" }] },
      { type: "subagent.started", childSessionId: "ses_2", title: "explore" },
      { type: "subagent.ended", childSessionId: "ses_2", outcome: { status: "done" } },
      usage,
      usage,
      done,
    ]);
    expect(describeAll(foldLog(log))).toEqual([
      "prompt hi",
      "thought hm hm",
      "message Hello there (complete)",
      "request permission.requested: permission.resolved",
      "tool run t1 ok: output",
      "plan completed",
      "subagent explore: done",
      "end done after 17000 ms, 10 tokens",
    ]);
  });

  it.each<[title: string, log: Draft[], expected: string[]]>([
    [
      "a message is abandoned if another one starts",
      [delta("m1", "a"), delta("m2", "b"), completed("m2", "b")],
      ["message a (abandoned)", "message b (complete)"],
    ],
    [
      "a message is abandoned if the turn ends",
      [delta("m1", "a"), done],
      ["message a (abandoned)", "end done after ? ms, 0 tokens"],
    ],
    ["a message without deltas is complete", [completed("m1", "a")], ["message a (complete)"]],
    [
      "the text of the complete message counts, not that of its deltas",
      [delta("m1", "ab"), completed("m1", "a")],
      ["message a (complete)"],
    ],
    [
      "steered input is a prompt inside the turn",
      [
        prompt("a"),
        { type: "input.queued", inputId: "i", input: text("b"), deliver: "steer" },
        { type: "input.delivered", inputId: "i", input: text("b") },
      ],
      ["prompt a", "steered b"],
    ],
    [
      "a parked turn makes its requests obsolete, and continues",
      [
        prompt("a"),
        permission("r"),
        { type: "turn.parked", until: "soon", message: "limit" },
        { type: "turn.continued" },
      ],
      [
        "prompt a",
        "request permission.requested: obsolete",
        "notice limit. The turn waits until soon.",
        "notice The turn continues.",
      ],
    ],
    [
      "a request that was cancelled has an answer",
      [
        permission("r"),
        { type: "permission.resolved", requestId: "r", decision: "cancelled", scope: "once", by: "policy" },
      ],
      ["request permission.requested: permission.resolved"],
    ],
    [
      "the first answer counts",
      [permission("r"), allowed("r"), { ...allowed("r"), decision: "deny" } as Draft],
      ["request permission.requested: permission.resolved"],
    ],
    [
      "a tool without an end is interrupted by the end of the turn",
      [tool("t"), output("t", "a"), done],
      ["tool run t interrupted: a", "end done after ? ms, 0 tokens"],
    ],
    [
      "a tool ID can be used again",
      [tool("t"), ended("t", "a"), tool("t"), ended("t", "b")],
      ["tool run t ok: a", "tool run t ok: b"],
    ],
    [
      "a tool from between turns survives the end of a turn",
      [{ ...tool("t"), turnId: undefined }, done],
      ["tool run t running: ", "end done after ? ms, 0 tokens"],
    ],
    [
      "equal notices in a row are counted",
      [warning, warning, prompt("a"), warning],
      ["notice again x2", "prompt a", "notice again"],
    ],
  ])("%s, whole and in pages", (_, drafts, expected) => {
    const log = toLog(drafts);
    expect(describeAll(foldLog(log))).toEqual(expected);
    for (let border = 1; border < log.length; border += 1) {
      expect(describeAll(foldBackwards(log, [border]))).toEqual(expected);
    }
  });

  it("shows the end of a tool and an answer whose start is in an older page", () => {
    expect(describeAll(foldLog(toLog([ended("t1", "a"), allowed("r1")])))).toEqual([
      "tool  ok: a",
      "request unknown: permission.resolved",
    ]);
  });

  it("keeps the key of an item that started in an older page", () => {
    const log = toLog([delta("m1", "a"), completed("m1", "ab")]);
    const transcript = foldLog(log.slice(1));
    const [key] = transcript.slots.map(({ item }) => item.key);
    transcript.prepend(foldLog(log.slice(0, 1)));
    expect(transcript.slots.map(({ item }) => item.key)).toEqual([key]);
  });

  it("reports only the slots that changed", () => {
    const transcript = foldLog(toLog([prompt("a"), delta("m", "a")]));
    expect(transcript.takeChanges().size).toBe(2);
    transcript.add({ ...toLog([delta("m", "b")])[0], seq: 3 } as SessionEvent);
    expect(Array.from(transcript.takeChanges(), describeItem)).toEqual(["message ab (streaming)"]);
    transcript.prepend(foldLog([]));
    expect(transcript.takeChanges().size).toBe(0);
  });

  it("is the same for any pages of any log", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seededRandom(seed);
      const log = randomLog(random, 40);
      const borders = Array.from({ length: 4 }, () => Math.floor(random() * log.length)).sort((a, b) => a - b);
      const live = foldBackwards(
        log.slice(0, 30),
        borders.filter((border) => border < 30),
      );
      for (const event of log.slice(30)) live.add(event);
      expect(listItems(live), `seed ${seed}`).toEqual(listItems(foldLog(log)));
      expect(listItems(foldBackwards(log, borders)), `seed ${seed}`).toEqual(listItems(foldLog(log)));
    }
  });
});

function seededRandom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Agents end only what they started, once, and nothing of a turn after its end. */
function isPossible(draft: Draft, running: Set<string>): boolean {
  const id = "toolId" in draft && draft.type !== "permission.requested" ? (draft.toolId ?? "") : "";
  const child = "childSessionId" in draft ? (draft.childSessionId ?? "") : "";
  switch (draft.type) {
    case "tool.started":
      running.add(id);
      return true;
    case "tool.updated":
      return running.has(id);
    case "tool.ended":
      return running.delete(id);
    case "subagent.started":
      return !running.has(child) && running.add(child).has(child);
    case "subagent.ended":
      return running.delete(child);
    case "turn.ended":
      for (const each of running) if (each !== BETWEEN_TURNS) running.delete(each);
      return true;
    default:
      return true;
  }
}

const BETWEEN_TURNS = "t2";

function randomLog(random: () => number, length: number): SessionEvent[] {
  const running = new Set<string>();
  const drafts: Draft[] = [];
  while (drafts.length < length) {
    const draft = randomDraft(random);
    if (isPossible(draft, running)) drafts.push(draft);
  }
  return toLog(drafts);
}

function randomDraft(random: () => number): Draft {
  const id = (prefix: string): string => `${prefix}${Math.floor(random() * 3)}`;
  const makers: (() => Draft)[] = [
    () => prompt("p"),
    () => done,
    () => delta(id("m"), "x"),
    () => delta(id("m"), "y"),
    () => completed(id("m"), "z"),
    () => ({ type: "thought.delta", messageId: id("m"), text: "t" }),
    () => tool(id("t")),
    () => output(id("t"), "o"),
    () => ended(id("t"), "e"),
    () => permission(`r${Math.floor(random() * 100)}`),
    () => allowed(`r${Math.floor(random() * 100)}`),
    () => ({ type: "plan.updated", entries: [{ content: id("c"), status: "pending" }] }),
    () => ({ type: "turn.parked", until: "soon", message: "m" }),
    () => warning,
    () => usage,
    () => ({ type: "subagent.started", childSessionId: id("ses"), title: "s" }),
    () => ({ type: "subagent.ended", childSessionId: id("ses"), outcome: { status: "done" } }),
  ];
  const make = makers[Math.floor(random() * makers.length)] ?? (() => done);
  const draft = make();
  // A call belongs to one turn, or to none.
  const isBetweenTurns = "toolId" in draft ? draft.toolId === BETWEEN_TURNS : random() < 0.1;
  return { ...draft, turnId: isBetweenTurns ? undefined : id("turn") };
}

describe("the parts of a text", () => {
  const sample = Array.from({ length: 900 }, (_, index) =>
    index % 40 === 10 ? "```ts" : index % 40 === 25 ? "```" : index % 7 === 0 ? "" : `line ${index} of the text`,
  ).join("\n");

  it("are cut at the same places, whatever the pieces are", () => {
    const whole = toTextParts(sample);
    for (const size of [1, 7, 1_000, 5_000]) {
      let parts = NO_TEXT;
      for (let at = 0; at < sample.length; at += size) parts = appendText(parts, sample.slice(at, at + size));
      expect(parts).toEqual(whole);
    }
    expect(joinParts(whole)).toBe(sample);
    expect(countParts(whole)).toBeGreaterThan(3);
  });

  it("continue a code block with its fence", () => {
    const parts = toTextParts(`intro\n\n\`\`\`ts\n${"const a = 1;\n".repeat(1_000)}\`\`\`\nend`);
    expect(partSource(parts, 1)).toMatch(/^```ts\nconst a = 1;\n/);
  });

  it("have a bounded size, also for one line of ten million characters", () => {
    const parts = toTextParts("🪶".repeat(5_000_000));
    expect(parts.closed.every(({ text: part }) => part.length <= MAX_PART_LENGTH && part.isWellFormed())).toBe(true);
    expect(countParts(parts)).toBeGreaterThan(2_000);
  });
});
