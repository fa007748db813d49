import { describe, expect, it, vi } from "vitest";
import type { Overlay, ToolSource } from "../domain/index.ts";
import { AgentTools, type AgentToolsOptions, type ToolNotice } from "./index.ts";
import { testContext, testSource, testSpec } from "./test-source.ts";

const signal = new AbortController().signal;
const names = (tools: AgentTools) => [...tools.snapshot().catalog.keys()];
const overlayOf = (sources: readonly ToolSource[], more: Partial<Overlay> = {}): Overlay => ({
  sources,
  contributions: [],
  base: true,
  ...more,
});

function collectNotices(options: AgentToolsOptions = {}) {
  const notices: ToolNotice[] = [];
  const tools = new AgentTools({ ...options, onNotice: (notice) => notices.push(notice) });
  return { tools, notices, said: () => notices.map(({ message }) => message) };
}

describe("the generation", () => {
  const a = () => testSource("a", "one", "two");
  it.each<[string, number, (tools: AgentTools, source: ReturnType<typeof a>) => void]>([
    ["goes up when a source is added", 1, (tools) => tools.add(testSource("b", "three"))],
    ["stays when a source without tools is added", 0, (tools) => tools.add(testSource("b"))],
    ["goes up when a source is removed", 1, (tools) => tools.remove("a")],
    ["stays when an unknown source is removed", 0, (tools) => tools.remove("b")],
    ["goes up when a tool is added", 1, (_, source) => source.set("one", "two", "three")],
    ["goes up when a tool is removed", 1, (_, source) => source.set("one")],
    ["goes up when a description changes", 1, (_, s) => s.set("one", testSpec("two", { description: "other" }))],
    ["goes up when a tool becomes read-only", 1, (_, source) => source.set("one", testSpec("two", { readOnly: true }))],
    ["stays when a source reports a change but lists equal tools", 0, (_, source) => source.set("one", "two")],
    ["stays when a source lists its tools in another order", 0, (_, source) => source.set("two", "one")],
    [
      "stays when the keys of a schema are in another order",
      0,
      (_, source) => {
        const { inputSchema, ...rest } = testSpec("two");
        const { required, properties, type } = inputSchema;
        source.set("one", { inputSchema: { required, properties, type }, ...rest });
      },
    ],
    ["stays when the filter excludes the changed tool", 0, (_, source) => source.set("one", "two", "secret")],
    ["goes up when a tool is disabled", 1, (tools) => tools.choose("one", false)],
    ["stays when an enabled tool is enabled", 0, (tools) => tools.choose("one", true)],
    ["stays when an unknown tool is disabled", 0, (tools) => tools.choose("nine", false)],
    ["goes up when a source is replaced by another with the same id", 1, (tools) => tools.add(a())],
    ["stays when an overlay is set", 0, (tools) => tools.setOverlay(overlayOf([testSource("o", "one")]))],
  ])("%s", (_, by, change) => {
    const tools = new AgentTools({ filter: { deny: ["secret"] } });
    const source = a();
    tools.add(source);
    const before = tools.generation;
    const snapshot = tools.snapshot();
    change(tools, source);
    expect(tools.generation - before).toBe(by);
    expect(tools.snapshot() === snapshot).toBe(by === 0 && tools.snapshot().key.overlayRevision === 0);
  });
});

describe("sources", () => {
  it("throws tool_conflict naming both sources and the tool, and changes nothing", () => {
    const tools = new AgentTools();
    tools.add(testSource("a", "one"));
    const before = tools.snapshot();
    expect(() => tools.add(testSource("b", "two", "one"))).toThrow(
      expect.objectContaining({ code: "tool_conflict", message: expect.stringMatching(/a and b .*"one"/) as string }),
    );
    expect(tools.snapshot()).toBe(before);
  });

  it("keeps a tool with the source that provided it first, and reports the conflict once", () => {
    const { tools, said } = collectNotices();
    const [b, a] = [testSource("b", "two"), testSource("a", "one")];
    tools.add(b);
    tools.add(a);
    b.set("two", "one");
    expect(tools.snapshot().describe({ toolId: "1", name: "one", input: {} }).title).toBe("a does one");
    b.set("two", "one", "three");
    expect(names(tools)).toEqual(["three", "two", "one"]);
    expect(said()).toEqual(["skipped tools: one of b (a already provides it)"]);
    a.set();
    expect(tools.snapshot().describe({ toolId: "1", name: "one", input: {} }).title).toBe("b does one");
  });

  it("restores a removed source at its position with its choices", () => {
    const tools = new AgentTools();
    tools.add(testSource("a", "one", "two"));
    tools.add(testSource("b", "three"));
    tools.choose("two", false);
    tools.remove("a");
    expect(names(tools)).toEqual(["three"]);
    tools.add(testSource("a", "one", "two"));
    expect(names(tools)).toEqual(["one", "three"]);
  });

  it("reads a source without change events every time", () => {
    const tools = new AgentTools();
    const quiet = { ...testSource("a", "one"), onChange: undefined as never };
    tools.add(quiet);
    const before = tools.snapshot();
    expect(tools.snapshot()).toBe(before);
    quiet.set("two");
    expect(names(tools)).toEqual(["two"]);
  });

  it("keeps the previous tools of a source that cannot be read, and reports it", () => {
    const { tools, said } = collectNotices();
    const a = testSource("a", "one");
    let broken = false;
    const list = () => {
      if (broken) throw new Error("lost");
      return a.list();
    };
    tools.add({ ...a, list });
    broken = true;
    a.set("two");
    expect(names(tools)).toEqual(["one"]);
    expect(said()).toEqual(["cannot list the tools of a; keeping its previous tools: lost"]);
  });

  it("notifies listeners once per batch, and only about real changes", async () => {
    const tools = new AgentTools();
    const a = testSource("a", "one");
    tools.add(a);
    await Promise.resolve();
    const listener = vi.fn();
    const stop = tools.onChange(listener);
    a.set("one");
    await Promise.resolve();
    expect(listener).not.toHaveBeenCalled();
    a.set("one", "two");
    a.set("two");
    await Promise.resolve();
    expect(listener).toHaveBeenCalledTimes(1);
    stop();
    a.set("three");
    await Promise.resolve();
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it("unsubscribes from sources when disposed, even twice", async () => {
    const stop = vi.fn();
    const tools = new AgentTools();
    tools.add({ ...testSource("a", "one"), onChange: () => stop });
    tools.setOverlay(overlayOf([{ ...testSource("o", "two"), onChange: () => stop }]));
    await tools[Symbol.asyncDispose]();
    await tools[Symbol.asyncDispose]();
    expect(stop).toHaveBeenCalledTimes(2);
  });
});

describe("saved choices", () => {
  it("are restored at the same generation", () => {
    const tools = new AgentTools();
    tools.add(testSource("a", "one", "two"));
    tools.choose("one", false);
    const saved = JSON.parse(JSON.stringify(tools.save())) as ReturnType<typeof tools.save>;
    tools.restore(saved);
    expect(names(tools)).toEqual(["two"]);
    expect(tools.choices).toEqual(new Map([["one", false]]));
  });

  it("are rejected with tools_stale at another generation", () => {
    const tools = new AgentTools();
    const a = testSource("a", "one");
    tools.add(a);
    const saved = tools.save();
    a.set("two");
    expect(() => tools.restore(saved)).toThrow(expect.objectContaining({ code: "tools_stale" }));
  });
});

it("adds an overlay that has only sources to the base tools", () => {
  const tools = new AgentTools();
  tools.add(testSource("base", "one"));
  const overlay = { sources: [testSource("more", "two")] };
  tools.setOverlay(overlay);
  expect([...tools.snapshot().catalog.keys()]).toEqual(["one", "two"]);
  const { key } = tools.snapshot();
  tools.setOverlay({ ...overlay, contributions: [], base: true });
  expect(tools.snapshot().key).toEqual(key);
});

describe("an overlay", () => {
  const base = () => {
    const tools = new AgentTools({
      filter: { deny: ["secret"] },
      plugins: [{ id: "p", version: "1", sources: [testSource("p", "plug")] }],
    });
    tools.add(testSource("a", "one", "two"));
    return tools;
  };
  it.each<[string, Overlay, string[]]>([
    ["adds its tools after the base", overlayOf([testSource("o", "three")]), ["p plug", "a one", "a two", "o three"]],
    ["shadows base tools of the same name", overlayOf([testSource("o", "one")]), ["p plug", "a two", "o one"]],
    ["replaces the base if the base is off", overlayOf([testSource("o", "one")], { base: false }), ["o one"]],
    ["leaves no tools if it has no sources and the base is off", overlayOf([], { base: false }), []],
    ["is filtered like the base", overlayOf([testSource("o", "secret", "three")], { base: false }), ["o three"]],
  ])("%s", (_, overlay, expected) => {
    const tools = base();
    tools.setOverlay(overlay);
    const snapshot = tools.snapshot();
    const owned = Array.from(snapshot.catalog.keys(), (name) =>
      snapshot.describe({ toolId: "1", name, input: {} }).title.replace(" does", ""),
    );
    expect(owned).toEqual(expected);
  });

  const o = testSource("o", "three");
  const said = { slot: "context", title: "Here", content: "now" } as const;
  it.each<[string, number, Overlay]>([
    [
      "keeps its revision if sources are identical and contributions equal",
      1,
      overlayOf([o], { contributions: [{ ...said, priority: 0 }] }),
    ],
    ["gets a new revision for an equal copy of a source", 2, overlayOf([{ ...o }], { contributions: [said] })],
    [
      "gets a new revision for another contribution",
      2,
      overlayOf([o], { contributions: [{ ...said, content: "then" }] }),
    ],
    ["gets a new revision if the base is switched off", 2, overlayOf([o], { contributions: [said], base: false })],
  ])("%s", (_, revision, overlay) => {
    const tools = base();
    tools.setOverlay(overlayOf([o], { contributions: [said] }));
    tools.setOverlay(overlay);
    expect(tools.snapshot().key.overlayRevision).toBe(revision);
  });

  it("reads its sources again when it is set again, even without a change event", () => {
    const tools = base();
    const source = { ...testSource("o", "three"), onChange: () => () => undefined };
    tools.setOverlay(overlayOf([source], { base: false }));
    source.set("four");
    expect(names(tools)).toEqual(["three"]);
    tools.setOverlay(overlayOf([source], { base: false }));
    expect(names(tools)).toEqual(["four"]);
    expect(tools.snapshot().key.overlayRevision).toBe(1);
  });

  it.each<[string, Overlay, string]>([
    [
      "two sources provide the same tool",
      overlayOf([testSource("o", "x"), testSource("q", "x")]),
      'o and q both provide a tool named "x"',
    ],
    [
      "a source cannot be read",
      overlayOf([
        testSource("q", "y"),
        {
          ...testSource("o"),
          list: () => {
            throw new Error("lost");
          },
        },
      ]),
      "cannot list the tools of o: lost",
    ],
    [
      "a contribution is invalid",
      { sources: [], contributions: [{ slot: "nowhere", title: "T", content: "x" } as never], base: true },
      'the contribution "T" is invalid',
    ],
  ])("changes nothing if %s", (_, overlay, message) => {
    const tools = base();
    tools.setOverlay(overlayOf([testSource("before", "three")]));
    const before = tools.snapshot();
    expect(() => tools.setOverlay(overlay)).toThrow(message);
    expect(tools.snapshot()).toBe(before);
  });
});

describe("a snapshot", () => {
  it("stays unchanged, and its calls reach the source that had the tool", async () => {
    const tools = new AgentTools({
      contributions: [{ slot: "tools", title: "One", content: "use it", tools: ["one"] }],
    });
    const a = testSource("a", "one");
    tools.add(a);
    const held = tools.snapshot();
    a.set("two");
    tools.add(testSource("b", "one"));
    expect([...held.catalog.keys()]).toEqual(["one"]);
    expect(held.definitions.map(({ name }) => name)).toEqual(["one"]);
    expect(held.preamble).toContain("use it");
    const prepared = await held.prepare({ toolId: "1", name: "one", input: {} }, { signal });
    expect(prepared.kind === "run" && (await prepared.run(testContext())).text).toBe("a lost one");
  });

  it("is cached per plugin revision, and evicted after eight others", () => {
    let revision = 0;
    const tools = new AgentTools({ plugins: [{ id: "p", version: "1", revision: () => revision }] });
    const at = (value: number) => {
      revision = value;
      return tools.snapshot();
    };
    const first = at(0);
    for (let value = 1; value < 8; value += 1) at(value);
    expect(at(0)).toBe(first);
    for (let value = 1; value <= 8; value += 1) at(value);
    expect(at(0)).not.toBe(first);
  });

  it("suggests the closest name for an unknown tool", async () => {
    const tools = new AgentTools();
    tools.add(testSource("a", "read_file", "write"));
    const prepared = await tools.snapshot().prepare({ toolId: "1", name: "raed_file", input: {} }, { signal });
    expect(prepared).toMatchObject({ kind: "settled", spec: undefined, result: { outcome: "failed" } });
    expect(prepared.kind === "settled" && prepared.result.text).toContain("did you mean read_file?");
  });

  it("turns an exception of a tool into a failure, but rethrows an error of the log", async () => {
    const tools = new AgentTools();
    const thrower = { ...testSource("a", "one"), call: () => Promise.reject(new Error("bad tool")) };
    const recorder: ToolSource = {
      ...testSource("b", "two"),
      call: async (_, context) => {
        await context.record({ type: "notice", level: "info", code: "x", message: "x" } as never);
        return { outcome: "ok", text: "" };
      },
    };
    tools.add(thrower);
    tools.add(recorder);
    const run = async (name: string) => {
      const prepared = await tools.snapshot().prepare({ toolId: "1", name, input: {} }, { signal });
      if (prepared.kind !== "run") throw new Error("settled");
      return prepared.run(testContext({ record: () => Promise.reject(new Error("log broke")) }));
    };
    expect(await run("one")).toEqual({ outcome: "failed", text: "one of a failed: bad tool" });
    await expect(run("two")).rejects.toThrow("log broke");
  });
});

describe("tool definitions", () => {
  const circular: Record<string, unknown> = { type: "object" };
  circular["properties"] = { self: circular };
  const forms: Record<string, unknown> = { type: "object", $defs: { d40: {} } };
  for (let depth = 0; depth < 40; depth += 1) {
    const next = { $ref: `#/$defs/d${depth + 1}` };
    (forms["$defs"] as Record<string, unknown>)[`d${depth}`] = { anyOf: [next, next] };
  }
  forms["anyOf"] = [{ $ref: "#/$defs/d0" }];
  it.each<[string, unknown, RegExp]>([
    ["is not an object", "text", /not an object/],
    ["describes an array", { type: "array" }, /"array"/],
    ["is circular", circular, /not valid JSON/],
    ["is too long", { type: "object", description: "x".repeat(300_000) }, /longer than/],
    ["contains a bigint", { type: "object", default: 1n }, /not valid JSON/],
    ["uses enum at the top level", { enum: [{}] }, /enum or const/],
    ["refers to another document", { $ref: "https://example.com/schema" }, /unsupported reference/],
    ["refers to itself", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, /unsupported reference/],
    ["multiplies", forms, /more than 200 branches/],
    ["has a string as a branch", { anyOf: [{ type: "string" }] }, /not an object schema/],
  ])("skips a tool, and names it, if its schema %s", (_, inputSchema, why) => {
    const { tools, said } = collectNotices();
    tools.add(testSource("a", testSpec("bad", { inputSchema: inputSchema as never }), "good"));
    expect(names(tools)).toEqual(["good"]);
    expect(said()).toEqual([expect.stringMatching(/^skipped tools of a: bad /)]);
    expect(said()[0]).toMatch(why);
  });

  it.each<[string, unknown, unknown]>([
    ["nothing", undefined, { type: "object", properties: {} }],
    ["no type", { properties: {} }, { type: "object", properties: {} }],
    ["type object or null", { type: ["object", "null"] }, { type: "object", properties: {} }],
    [
      "a top-level reference",
      { $ref: "#/$defs/A", $defs: { A: { type: "object", properties: { x: {} } } } },
      { type: "object", properties: { x: {} }, $defs: { A: { type: "object", properties: { x: {} } } } },
    ],
    [
      "forms",
      {
        type: "object",
        anyOf: [
          { properties: { a: { type: "string" }, k: { const: 1 } }, required: ["a", "k"] },
          { properties: { k: { const: 2 } }, required: ["k"] },
        ],
      },
      {
        type: "object",
        properties: { a: { type: "string" }, k: { anyOf: [{ const: 1 }, { const: 2 }] } },
        required: ["k"],
      },
    ],
    [
      "parts",
      {
        allOf: [
          { properties: { a: {} }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      { type: "object", properties: { a: {}, b: {} }, required: ["a", "b"] },
    ],
  ])("normalizes a schema with %s", (_, inputSchema, expected) => {
    const tools = new AgentTools();
    tools.add(testSource("a", testSpec("one", { inputSchema: inputSchema as never })));
    expect(tools.snapshot().definitions[0]?.inputSchema).toEqual(expected);
  });

  it.each(["with space", "", "1st", "x".repeat(65), "dots.in.it", "search_tools", "call_tool"])(
    "skips a tool named %j",
    (name) => {
      const { tools, notices } = collectNotices();
      tools.add(testSource("a", name, "good"));
      expect(names(tools)).toEqual(["good"]);
      expect(notices).toEqual([expect.objectContaining({ code: "tool_left_out" })]);
    },
  );

  it("reports all skipped tools of a source in one notice", () => {
    const { tools, said } = collectNotices();
    tools.add(testSource("a", ...Array.from({ length: 5_000 }, (_, index) => `no ${index}`)));
    expect(said()).toEqual([expect.stringMatching(/"no 0".* and 4995 more$/)]);
  });

  it("skips duplicates and entries that are not objects", () => {
    const { tools, said } = collectNotices();
    tools.add(testSource("a", "one", "one", null as never));
    expect(names(tools)).toEqual(["one"]);
    expect(said()).toEqual(["skipped tools of a: one (listed twice), an entry that is not an object"]);
  });
});
