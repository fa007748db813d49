import { describe, expect, it } from "vitest";
import type { PromptContribution, ToolResult } from "../domain/index.ts";
import { AgentTools, type BeforeCall, type Plugin, type ToolNotice } from "./index.ts";
import { contextOf, sourceOf } from "./test-source.ts";

const signal = new AbortController().signal;
const call = { toolId: "1", name: "one", input: { path: "x" } };
const ok = (text: string): ToolResult => ({ outcome: "ok", text });
const broken = () => {
  throw new Error("broke");
};
const hanging = () => new Promise<never>(() => undefined);
const saying = (id: string, said: BeforeCall | undefined): Plugin => ({ id, version: "1", beforeCall: () => said });

async function transcriptOf(plugins: readonly Plugin[]) {
  const notices: ToolNotice[] = [];
  const tools = new AgentTools({ plugins, pluginTimeoutMs: 20, onNotice: (notice) => notices.push(notice) });
  const source = sourceOf("a", "one");
  tools.add(source);
  const prepared = await tools.artifact().prepare(call, { signal });
  const { outcome, text } = prepared.kind === "run" ? await prepared.run(contextOf()) : prepared.result;
  const said = source.calls.map(({ input }) => `ran ${JSON.stringify(input)}`);
  return [...notices.map(({ message }) => message), ...said, `${outcome}: ${text}`];
}

const REFUSED = "the plugin p, which looks at calls before they run, failed: ";
it.each<[string, readonly Plugin[], string[]]>([
  ["that say nothing change nothing", [saying("p", undefined)], ['ran {"path":"x"}', "ok: a did one"]],
  ["replace arguments", [saying("p", { arguments: { path: "y" } })], ['ran {"path":"y"}', "ok: a did one"]],
  [
    "replace arguments that the next one sees",
    [
      saying("p", { arguments: { n: 1 } }),
      {
        id: "q",
        version: "1",
        beforeCall: (seen) => ({ arguments: { n: (seen.call.input as { n: number }).n + 1 } }),
      },
    ],
    ['ran {"n":2}', "ok: a did one"],
  ],
  ["answer in the tool's place", [saying("p", { answer: ok("mine") })], ["ok: mine"]],
  ["refuse", [saying("p", { refuse: "not today" })], ["denied: not today"]],
  [
    "that refuse win over those that answer",
    [saying("p", { answer: ok("mine") }), saying("q", { refuse: "no" }), saying("r", { refuse: "nor I" })],
    ["denied: no"],
  ],
  [
    "that answer win over those that replace",
    [saying("p", { arguments: {} }), saying("q", { answer: ok("first") }), saying("r", { answer: ok("second") })],
    ["ok: first"],
  ],
  [
    "transform results in order, also those of plugins",
    [
      saying("p", { answer: ok("mine") }),
      { id: "q", version: "1", afterCall: (_, { text }) => ok(`${text}+q`) },
      { id: "r", version: "1", afterCall: async (_, { text }) => Promise.resolve(ok(`${text}+r`)) },
    ],
    ["ok: mine+q+r"],
  ],
  [
    "that break before a call refuse it",
    [{ id: "p", version: "1", beforeCall: broken }],
    ["the plugin p failed in beforeCall: broke", `denied: ${REFUSED}broke`],
  ],
  [
    "that hang before a call refuse it",
    [{ id: "p", version: "1", beforeCall: hanging }],
    ["the plugin p failed in beforeCall: no answer within 20 ms", `denied: ${REFUSED}no answer within 20 ms`],
  ],
  [
    "that break before a call and do not matter are passed over",
    [{ id: "p", version: "1", beforeCall: broken, onFailure: "ignore" }],
    ["the plugin p failed in beforeCall: broke", 'ran {"path":"x"}', "ok: a did one"],
  ],
  [
    "that say nonsense have failed",
    [saying("p", { maybe: true } as never)],
    [
      "the plugin p failed in beforeCall: its answer is none of refuse, answer and arguments",
      `denied: ${REFUSED}its answer is none of refuse, answer and arguments`,
    ],
  ],
  [
    "that break, hang or say nonsense after a call leave its result",
    [
      { id: "p", version: "1", afterCall: broken },
      { id: "q", version: "1", afterCall: hanging },
      { id: "r", version: "1", afterCall: () => "text" as never },
    ],
    [
      "the plugin p failed in afterCall: broke",
      "the plugin q failed in afterCall: no answer within 20 ms",
      "the plugin r failed in afterCall: its result is none: ✖ Invalid input: expected object, received string",
      'ran {"path":"x"}',
      "ok: a did one",
    ],
  ],
  [
    "whose results the log could not keep leave what was there",
    [
      { id: "p", version: "1", afterCall: () => ({ outcome: "great" as "ok", text: "mine" }) },
      { id: "q", version: "1", afterCall: () => ({ ...ok("mine"), structured: { n: 1n } }) },
      { id: "r", version: "1", onFailure: "ignore", beforeCall: () => ({ arguments: { n: 1n } }) },
      { id: "s", version: "1", onFailure: "ignore", beforeCall: () => ({ answer: { outcome: 5 as never, text: "" } }) },
    ],
    [
      "the plugin r failed in beforeCall: what it gives as arguments is no JSON: Do not know how to serialize a BigInt",
      expect.stringContaining("the plugin s failed in beforeCall: its result is none") as string,
      expect.stringContaining("the plugin p failed in afterCall: its result is none") as string,
      "the plugin q failed in afterCall: its structured result is no JSON: Do not know how to serialize a BigInt",
      'ran {"path":"x"}',
      "ok: a did one",
    ],
  ],
])("plugins %s", async (_, plugins, expected) => {
  expect(await transcriptOf(plugins)).toEqual(expected);
});

describe("a cancelled turn", () => {
  it("ends the wait for a plugin, with its own reason", async () => {
    const turn = new AbortController();
    const tools = new AgentTools({ plugins: [{ id: "p", version: "1", beforeCall: hanging }] });
    tools.add(sourceOf("a", "one"));
    const prepared = tools.artifact().prepare(call, { signal: turn.signal });
    turn.abort(new Error("stopped"));
    await expect(prepared).rejects.toThrow("stopped");
  });

  it("has its results transformed all the same", async () => {
    const turn = new AbortController();
    const redact: Plugin = { id: "p", version: "1", afterCall: (_, { outcome }) => ({ outcome, text: "hidden" }) };
    const tools = new AgentTools({ plugins: [redact] });
    const stopped = () => {
      turn.abort();
      return Promise.reject(new Error("secret"));
    };
    tools.add({ ...sourceOf("a", "one"), call: stopped });
    const prepared = await tools.artifact().prepare(call, { signal: turn.signal });
    const result = prepared.kind === "run" ? await prepared.run(contextOf({ signal: turn.signal })) : undefined;
    expect(result).toEqual({ outcome: "cancelled", text: "hidden" });
  });
});

it("a tool whose result the log could not keep has failed", async () => {
  const tools = new AgentTools();
  tools.add({ ...sourceOf("a", "one"), call: () => Promise.resolve({ outcome: "great" as "ok", text: "" }) });
  const prepared = await tools.artifact().prepare(call, { signal });
  expect(prepared.kind === "run" && (await prepared.run(contextOf()))).toMatchObject({
    outcome: "failed",
    text: expect.stringContaining("one of a failed: its result is none") as string,
  });
});

describe("plugins", () => {
  it("whose tools cannot be read go without them, and are named", () => {
    const notices: string[] = [];
    const plugin: Plugin = { id: "p", version: "1", sources: [{ ...sourceOf("a", "one"), list: broken }] };
    const tools = new AgentTools({ plugins: [plugin], onNotice: ({ message }) => notices.push(message) });
    expect([...tools.artifact().catalog.keys()]).toEqual([]);
    expect(notices).toEqual(["the plugin p goes without its tools: a cannot say its tools: broke"]);
  });

  it.each<[string, Partial<Plugin>, string]>([
    ["throws", { contributions: broken }, "broke"],
    ["gives no list", { contributions: () => undefined as never }, "its contributions are not a list"],
    ["gives no text", { contributions: [{ slot: "role", title: "T" } as never] }, 'a contribution "T" cannot be said'],
    ["cannot say its revision", { revision: broken }, "broke"],
  ])("one that %s is named once, and the prompt goes without", (_, hooks, message) => {
    const notices: ToolNotice[] = [];
    const tools = new AgentTools({
      plugins: [{ id: "p", version: "1", ...hooks }],
      onNotice: (notice) => notices.push(notice),
    });
    for (const name of ["one", "two", "three"]) {
      tools.add(sourceOf(name, name));
      expect(tools.artifact().preamble).toBe("");
    }
    const hook = Object.keys(hooks)[0];
    expect(notices.map((notice) => notice.message)).toEqual([`the plugin p failed in ${hook}: ${message}`]);
  });

  it("see a turn's start and end, and one that breaks or hangs is named", async () => {
    const seen: string[] = [];
    const notices: string[] = [];
    const plugins: Plugin[] = [
      {
        id: "p",
        version: "1",
        turnStarted: ({ turnId }) => seen.push(`started ${turnId}`),
        turnEnded: ({ turnId, outcome }) => seen.push(`ended ${turnId} ${outcome}`),
      },
      { id: "q", version: "1", turnStarted: broken, turnEnded: hanging },
    ];
    const tools = new AgentTools({ plugins, pluginTimeoutMs: 20, onNotice: ({ message }) => notices.push(message) });
    await tools.turnStarted({ turnId: "t", signal });
    await tools.turnEnded({ turnId: "t", outcome: "done" });
    expect(seen).toEqual(["started t", "ended t done"]);
    expect(notices).toEqual([
      "the plugin q failed in turnStarted: broke",
      "the plugin q failed in turnEnded: no answer within 20 ms",
    ]);
  });

  it("save and restore their state, each its own, and one that fails is named", async () => {
    const notices: string[] = [];
    const restored: unknown[] = [];
    const circular: unknown[] = [];
    circular.push(circular);
    const plugins: Plugin[] = [
      { id: "p", version: "2", save: () => ({ n: 1 }), restore: (state, saved) => restored.push(state, saved) },
      { id: "q", version: "1", save: () => circular, restore: broken },
      { id: "r", version: "1", save: () => "x".repeat(1_000_001) },
      { id: "s", version: "1" },
    ];
    const tools = new AgentTools({ plugins, onNotice: ({ message }) => notices.push(message) });
    const states = await tools.pluginStates();
    expect(states).toEqual({ p: { version: "2", state: { n: 1 } } });
    await tools.restorePlugins({ ...states, q: { version: "1", state: 1 } });
    expect(restored).toEqual([{ n: 1 }, { version: "2" }]);
    expect(notices).toEqual([
      expect.stringMatching(/plugin q failed in save: .*circular/),
      "the plugin r failed in save: its state is longer than 1000000 characters",
      "the plugin q failed in restore: broke",
    ]);
  });

  it("make the fingerprint of the key in order, and one whose revision breaks is as it was", () => {
    let revision = 3;
    const plugins: Plugin[] = [
      { id: "p", version: "1", revision: () => (revision < 0 ? broken() : revision) },
      { id: "q", version: "2" },
    ];
    const tools = new AgentTools({ plugins });
    const first = tools.artifact();
    expect(first.key.pluginRevision).toBe('[["p","1",3],["q","2",0]]');
    revision = -1;
    expect(tools.artifact()).toBe(first);
    revision = 4;
    expect(tools.artifact()).not.toBe(first);
    expect(new AgentTools({ plugins: plugins.toReversed() }).artifact().key).not.toEqual(tools.artifact().key);
  });

  it("of the same id, or with the same tool, are refused", () => {
    const p = { id: "p", version: "1", sources: [sourceOf("x", "one")] };
    expect(() => new AgentTools({ plugins: [p, p] })).toThrow(expect.objectContaining({ code: "plugin_failed" }));
    const q = { id: "q", version: "1", sources: [sourceOf("y", "one")] };
    expect(() => new AgentTools({ plugins: [p, q] })).toThrow(expect.objectContaining({ code: "tool_conflict" }));
  });
});

describe("the preamble", () => {
  const say = (title: string, more: Partial<PromptContribution> = {}): PromptContribution => ({
    slot: "guidance",
    title,
    content: `about ${title}`,
    ...more,
  });
  const titles = (tools: AgentTools) =>
    [...tools.artifact().preamble.matchAll(/^## (.*)$/gm)].map(([, title]) => title);

  it.each<[string, PromptContribution[], string[]]>([
    [
      "is in the order of slots",
      [say("c", { slot: "context" }), say("t", { slot: "tools" }), say("r", { slot: "role" }), say("g")],
      ["r", "g", "t", "c"],
    ],
    [
      "has the higher priority first",
      [say("a"), say("b", { priority: 2 }), say("c", { priority: -1 })],
      ["b", "a", "c"],
    ],
    ["keeps the order among equals", [say("b"), say("a")], ["b", "a"]],
    ["leaves out what is about tools that are not there", [say("a", { tools: ["nine"] }), say("b", { tools: [] })], []],
    ["keeps what is about one tool that is there", [say("a", { tools: ["nine", "one"] })], ["a"]],
    ["knows tools by a prefix", [say("a", { tools: ["o*"] }), say("b", { tools: ["x*"] })], ["a"]],
    ["leaves out the empty", [say("a", { content: " \n" })], []],
    ["leaves out what does not fit", [say("a"), say("b", { content: "x".repeat(200_000) })], ["a"]],
  ])("%s", (_, contributions, expected) => {
    const tools = new AgentTools({ contributions });
    tools.add(sourceOf("a", "one"));
    expect(titles(tools)).toEqual(expected);
  });

  it("holds what the agent, its plugins and the overlay contribute, and names a plugin that cannot", () => {
    const notices: string[] = [];
    const tools = new AgentTools({
      contributions: [say("agent")],
      plugins: [
        { id: "p", version: "1", contributions: [say("plugin")] },
        { id: "q", version: "1", contributions: () => [say("live")] },
        { id: "r", version: "1", contributions: broken },
      ],
      onNotice: ({ message }) => notices.push(message),
    });
    tools.setOverlay({ sources: [], contributions: [say("overlay")], base: false });
    expect(titles(tools)).toEqual(["agent", "plugin", "live", "overlay"]);
    expect(notices).toEqual(["the plugin r failed in contributions: broke"]);
  });
});
