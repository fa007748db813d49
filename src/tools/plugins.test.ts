import { describe, expect, it } from "vitest";
import type { PromptContribution, ToolResult } from "../domain/index.ts";
import { AgentTools, type BeforeCall, type Plugin, type ToolNotice } from "./index.ts";
import { testContext, testSource } from "./test-source.ts";

const signal = new AbortController().signal;
const call = { toolId: "1", name: "one", input: { path: "x" } };
const ok = (text: string): ToolResult => ({ outcome: "ok", text });
const broken = () => {
  throw new Error("broke");
};
const hanging = () => new Promise<never>(() => undefined);
const returning = (id: string, said: BeforeCall | undefined): Plugin => ({ id, version: "1", beforeCall: () => said });

async function runWithPlugins(plugins: readonly Plugin[]) {
  const notices: ToolNotice[] = [];
  const tools = new AgentTools({ plugins, pluginTimeoutMs: 20, onNotice: (notice) => notices.push(notice) });
  const source = testSource("a", "one");
  tools.add(source);
  const prepared = await tools.snapshot().prepare(call, { signal });
  const { outcome, text } = prepared.kind === "run" ? await prepared.run(testContext()) : prepared.result;
  const said = source.calls.map(({ input }) => `ran ${JSON.stringify(input)}`);
  return [...notices.map(({ message }) => message), ...said, `${outcome}: ${text}`];
}

const REFUSED = "the plugin p failed while checking this call: ";
it.each<[string, readonly Plugin[], string[]]>([
  ["leave a call unchanged if they return nothing", [returning("p", undefined)], ['ran {"path":"x"}', "ok: a did one"]],
  ["replace arguments", [returning("p", { arguments: { path: "y" } })], ['ran {"path":"y"}', "ok: a did one"]],
  [
    "pass replaced arguments to the next plugin",
    [
      returning("p", { arguments: { n: 1 } }),
      {
        id: "q",
        version: "1",
        beforeCall: (seen) => ({ arguments: { n: (seen.call.input as { n: number }).n + 1 } }),
      },
    ],
    ['ran {"n":2}', "ok: a did one"],
  ],
  ["answer instead of the tool", [returning("p", { answer: ok("mine") })], ["ok: mine"]],
  ["refuse", [returning("p", { refuse: "not today" })], ["denied: not today"]],
  [
    "refuse with precedence over answers",
    [returning("p", { answer: ok("mine") }), returning("q", { refuse: "no" }), returning("r", { refuse: "nor I" })],
    ["denied: no"],
  ],
  [
    "answer with precedence over replaced arguments",
    [
      returning("p", { arguments: {} }),
      returning("q", { answer: ok("first") }),
      returning("r", { answer: ok("second") }),
    ],
    ["ok: first"],
  ],
  [
    "transform results in order, including answers of plugins",
    [
      returning("p", { answer: ok("mine") }),
      { id: "q", version: "1", afterCall: (_, { text }) => ok(`${text}+q`) },
      { id: "r", version: "1", afterCall: async (_, { text }) => Promise.resolve(ok(`${text}+r`)) },
    ],
    ["ok: mine+q+r"],
  ],
  [
    "refuse a call if beforeCall throws",
    [{ id: "p", version: "1", beforeCall: broken }],
    ["the plugin p failed in beforeCall: broke", `denied: ${REFUSED}broke`],
  ],
  [
    "refuse a call if beforeCall hangs",
    [{ id: "p", version: "1", beforeCall: hanging }],
    ["the plugin p failed in beforeCall: no answer within 20 ms", `denied: ${REFUSED}no answer within 20 ms`],
  ],
  [
    "are skipped if beforeCall throws and onFailure is ignore",
    [{ id: "p", version: "1", beforeCall: broken, onFailure: "ignore" }],
    ["the plugin p failed in beforeCall: broke", 'ran {"path":"x"}', "ok: a did one"],
  ],
  [
    "fail if they return an unknown answer",
    [returning("p", { maybe: true } as never)],
    [
      "the plugin p failed in beforeCall: it must return refuse, answer or arguments",
      `denied: ${REFUSED}it must return refuse, answer or arguments`,
    ],
  ],
  [
    "keep the result if afterCall throws, hangs or returns an invalid value",
    [
      { id: "p", version: "1", afterCall: broken },
      { id: "q", version: "1", afterCall: hanging },
      { id: "r", version: "1", afterCall: () => "text" as never },
    ],
    [
      "the plugin p failed in afterCall: broke",
      "the plugin q failed in afterCall: no answer within 20 ms",
      "the plugin r failed in afterCall: invalid tool result: ✖ Invalid input: expected object, received string",
      'ran {"path":"x"}',
      "ok: a did one",
    ],
  ],
  [
    "keep the previous result if theirs cannot be logged",
    [
      { id: "p", version: "1", afterCall: () => ({ outcome: "great" as "ok", text: "mine" }) },
      { id: "q", version: "1", afterCall: () => ({ ...ok("mine"), structured: { n: 1n } }) },
      { id: "r", version: "1", onFailure: "ignore", beforeCall: () => ({ arguments: { n: 1n } }) },
      { id: "s", version: "1", onFailure: "ignore", beforeCall: () => ({ answer: { outcome: 5 as never, text: "" } }) },
    ],
    [
      "the plugin r failed in beforeCall: cannot serialize the replacement arguments as JSON: Do not know how to serialize a BigInt",
      expect.stringContaining("the plugin s failed in beforeCall: invalid tool result") as string,
      expect.stringContaining("the plugin p failed in afterCall: invalid tool result") as string,
      "the plugin q failed in afterCall: cannot serialize the structured result as JSON: Do not know how to serialize a BigInt",
      'ran {"path":"x"}',
      "ok: a did one",
    ],
  ],
])("plugins %s", async (_, plugins, expected) => {
  expect(await runWithPlugins(plugins)).toEqual(expected);
});

describe("a cancelled turn", () => {
  it("stops waiting for a plugin and rejects with the turn's reason", async () => {
    const turn = new AbortController();
    const tools = new AgentTools({ plugins: [{ id: "p", version: "1", beforeCall: hanging }] });
    tools.add(testSource("a", "one"));
    const prepared = tools.snapshot().prepare(call, { signal: turn.signal });
    turn.abort(new Error("stopped"));
    await expect(prepared).rejects.toThrow("stopped");
  });

  it("still runs afterCall on its results", async () => {
    const turn = new AbortController();
    const redact: Plugin = { id: "p", version: "1", afterCall: (_, { outcome }) => ({ outcome, text: "hidden" }) };
    const tools = new AgentTools({ plugins: [redact] });
    const stopped = () => {
      turn.abort();
      return Promise.reject(new Error("secret"));
    };
    tools.add({ ...testSource("a", "one"), call: stopped });
    const prepared = await tools.snapshot().prepare(call, { signal: turn.signal });
    const result = prepared.kind === "run" ? await prepared.run(testContext({ signal: turn.signal })) : undefined;
    expect(result).toEqual({ outcome: "cancelled", text: "hidden" });
  });
});

it("turns a result that cannot be logged into a failure", async () => {
  const tools = new AgentTools();
  tools.add({ ...testSource("a", "one"), call: () => Promise.resolve({ outcome: "great" as "ok", text: "" }) });
  const prepared = await tools.snapshot().prepare(call, { signal });
  expect(prepared.kind === "run" && (await prepared.run(testContext()))).toMatchObject({
    outcome: "failed",
    text: expect.stringContaining("one of a failed: invalid tool result") as string,
  });
});

describe("plugins", () => {
  it("run without tools that cannot be listed, and are reported", () => {
    const notices: string[] = [];
    const plugin: Plugin = { id: "p", version: "1", sources: [{ ...testSource("a", "one"), list: broken }] };
    const tools = new AgentTools({ plugins: [plugin], onNotice: ({ message }) => notices.push(message) });
    expect([...tools.snapshot().catalog.keys()]).toEqual([]);
    expect(notices).toEqual(["the plugin p runs without its tools: cannot list the tools of a: broke"]);
  });

  it.each<[string, Partial<Plugin>, string]>([
    ["throws", { contributions: broken }, "broke"],
    ["returns no array", { contributions: () => undefined as never }, "contributions must be an array"],
    [
      "returns no content",
      { contributions: [{ slot: "role", title: "T" } as never] },
      'the contribution "T" is invalid; check its slot, title, content, priority and tools',
    ],
    ["throws in revision", { revision: broken }, "broke"],
  ])("reports a plugin that %s once and leaves it out of the prompt", (_, hooks, message) => {
    const notices: ToolNotice[] = [];
    const tools = new AgentTools({
      plugins: [{ id: "p", version: "1", ...hooks }],
      onNotice: (notice) => notices.push(notice),
    });
    for (const name of ["one", "two", "three"]) {
      tools.add(testSource(name, name));
      expect(tools.snapshot().preamble).toBe("");
    }
    const hook = Object.keys(hooks)[0];
    expect(notices.map((notice) => notice.message)).toEqual([`the plugin p failed in ${hook}: ${message}`]);
  });

  it("see the start and end of a turn, and are reported if they throw or hang", async () => {
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

  it("save and restore their own state, and are reported if that fails", async () => {
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

  it("determine the snapshot key in order, and keep their revision if it throws", () => {
    let revision = 3;
    const plugins: Plugin[] = [
      { id: "p", version: "1", revision: () => (revision < 0 ? broken() : revision) },
      { id: "q", version: "2" },
    ];
    const tools = new AgentTools({ plugins });
    const first = tools.snapshot();
    expect(first.key.pluginRevision).toBe('[["p","1",3],["q","2",0]]');
    revision = -1;
    expect(tools.snapshot()).toBe(first);
    revision = 4;
    expect(tools.snapshot()).not.toBe(first);
    expect(new AgentTools({ plugins: plugins.toReversed() }).snapshot().key).not.toEqual(tools.snapshot().key);
  });

  it("are rejected if they share an id or a tool", () => {
    const p = { id: "p", version: "1", sources: [testSource("x", "one")] };
    expect(() => new AgentTools({ plugins: [p, p] })).toThrow(expect.objectContaining({ code: "plugin_failed" }));
    const q = { id: "q", version: "1", sources: [testSource("y", "one")] };
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
    [...tools.snapshot().preamble.matchAll(/^## (.*)$/gm)].map(([, title]) => title);

  it.each<[string, PromptContribution[], string[]]>([
    [
      "is ordered by slot",
      [say("c", { slot: "context" }), say("t", { slot: "tools" }), say("r", { slot: "role" }), say("g")],
      ["r", "g", "t", "c"],
    ],
    [
      "puts higher priorities first",
      [say("a"), say("b", { priority: 2 }), say("c", { priority: -1 })],
      ["b", "a", "c"],
    ],
    ["keeps the order of equal priorities", [say("b"), say("a")], ["b", "a"]],
    ["leaves out contributions for missing tools", [say("a", { tools: ["nine"] }), say("b", { tools: [] })], []],
    ["keeps a contribution if one of its tools is available", [say("a", { tools: ["nine", "one"] })], ["a"]],
    ["matches tools by prefix", [say("a", { tools: ["o*"] }), say("b", { tools: ["x*"] })], ["a"]],
    ["leaves out empty contributions", [say("a", { content: " \n" })], []],
    ["leaves out contributions that do not fit", [say("a"), say("b", { content: "x".repeat(200_000) })], ["a"]],
  ])("%s", (_, contributions, expected) => {
    const tools = new AgentTools({ contributions });
    tools.add(testSource("a", "one"));
    expect(titles(tools)).toEqual(expected);
  });

  it("combines contributions of agent, plugins and overlay, and reports a failing plugin", () => {
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
