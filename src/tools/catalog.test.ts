import { describe, expect, it, vi } from "vitest";
import type { Overlay, ToolSource } from "../domain/index.ts";
import { AgentTools, type AgentToolsOptions, type ToolNotice } from "./index.ts";
import { contextOf, sourceOf, specOf } from "./test-source.ts";

const signal = new AbortController().signal;
const names = (tools: AgentTools) => [...tools.artifact().catalog.keys()];
const overlayOf = (sources: readonly ToolSource[], more: Partial<Overlay> = {}): Overlay => ({
  sources,
  contributions: [],
  base: true,
  ...more,
});

function noted(options: AgentToolsOptions = {}) {
  const notices: ToolNotice[] = [];
  const tools = new AgentTools({ ...options, onNotice: (notice) => notices.push(notice) });
  return { tools, notices, said: () => notices.map(({ message }) => message) };
}

describe("the generation", () => {
  const a = () => sourceOf("a", "one", "two");
  it.each<[string, number, (tools: AgentTools, source: ReturnType<typeof a>) => void]>([
    ["goes up when a source is added", 1, (tools) => tools.add(sourceOf("b", "three"))],
    ["stays when a source without tools is added", 0, (tools) => tools.add(sourceOf("b"))],
    ["goes up when a source is removed", 1, (tools) => tools.remove("a")],
    ["stays when an unknown source is removed", 0, (tools) => tools.remove("b")],
    ["goes up when a tool comes", 1, (_, source) => source.set("one", "two", "three")],
    ["goes up when a tool goes", 1, (_, source) => source.set("one")],
    ["goes up when a tool is described otherwise", 1, (_, s) => s.set("one", specOf("two", { description: "other" }))],
    [
      "goes up when a tool is trusted to only read",
      1,
      (_, source) => source.set("one", specOf("two", { readOnly: true })),
    ],
    ["stays when a source says changed with an equal list", 0, (_, source) => source.set("one", "two")],
    ["stays when a source lists in another order", 0, (_, source) => source.set("two", "one")],
    [
      "stays when the keys of a schema come in another order",
      0,
      (_, source) => {
        const { inputSchema, ...rest } = specOf("two");
        const { required, properties, type } = inputSchema;
        source.set("one", { inputSchema: { required, properties, type }, ...rest });
      },
    ],
    ["stays when what changed is left out by the filter", 0, (_, source) => source.set("one", "two", "secret")],
    ["goes up when a tool is switched off", 1, (tools) => tools.choose("one", false)],
    ["stays when a tool is switched on that is on", 0, (tools) => tools.choose("one", true)],
    ["stays when a tool is switched off that is not there", 0, (tools) => tools.choose("nine", false)],
    ["goes up when another source of that id takes its place", 1, (tools) => tools.add(a())],
    ["stays when an overlay is set", 0, (tools) => tools.setOverlay(overlayOf([sourceOf("o", "one")]))],
  ])("%s", (_, by, change) => {
    const tools = new AgentTools({ filter: { deny: ["secret"] } });
    const source = a();
    tools.add(source);
    const before = tools.generation;
    const artifact = tools.artifact();
    change(tools, source);
    expect(tools.generation - before).toBe(by);
    expect(tools.artifact() === artifact).toBe(by === 0 && tools.artifact().key.overlayRevision === 0);
  });
});

describe("sources", () => {
  it("with the same tool are refused, naming both and the tool, and nothing changes", () => {
    const tools = new AgentTools();
    tools.add(sourceOf("a", "one"));
    const before = tools.artifact();
    expect(() => tools.add(sourceOf("b", "two", "one"))).toThrow(
      expect.objectContaining({ code: "tool_conflict", message: expect.stringMatching(/a and b .*"one"/) as string }),
    );
    expect(tools.artifact()).toBe(before);
  });

  it("that collide later leave the tool with who had it first, and say so once", () => {
    const { tools, said } = noted();
    const [b, a] = [sourceOf("b", "two"), sourceOf("a", "one")];
    tools.add(b);
    tools.add(a);
    b.set("two", "one");
    expect(tools.artifact().describe({ toolId: "1", name: "one", input: {} }).title).toBe("a does one");
    b.set("two", "one", "three");
    expect(names(tools)).toEqual(["three", "two", "one"]);
    expect(said()).toEqual(["left out: one of b (a had it first)"]);
    a.set();
    expect(tools.artifact().describe({ toolId: "1", name: "one", input: {} }).title).toBe("b does one");
  });

  it("that went leave their tools out, and come back to their place with what was chosen", () => {
    const tools = new AgentTools();
    tools.add(sourceOf("a", "one", "two"));
    tools.add(sourceOf("b", "three"));
    tools.choose("two", false);
    tools.remove("a");
    expect(names(tools)).toEqual(["three"]);
    tools.add(sourceOf("a", "one", "two"));
    expect(names(tools)).toEqual(["one", "three"]);
  });

  it("that never say so are read each time", () => {
    const tools = new AgentTools();
    const quiet = { ...sourceOf("a", "one"), onChange: undefined as never };
    tools.add(quiet);
    const before = tools.artifact();
    expect(tools.artifact()).toBe(before);
    quiet.set("two");
    expect(names(tools)).toEqual(["two"]);
  });

  it("that cannot be read keep the tools they had, and are named", () => {
    const { tools, said } = noted();
    const a = sourceOf("a", "one");
    let broken = false;
    const list = () => {
      if (broken) throw new Error("lost");
      return a.list();
    };
    tools.add({ ...a, list });
    broken = true;
    a.set("two");
    expect(names(tools)).toEqual(["one"]);
    expect(said()).toEqual(["a cannot say its tools and keeps those it had: lost"]);
  });

  it("tell whoever listens, once for what comes together, and only when something changed", async () => {
    const tools = new AgentTools();
    const a = sourceOf("a", "one");
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

  it("are no longer listened to after closing, which may happen twice", async () => {
    const stop = vi.fn();
    const tools = new AgentTools();
    tools.add({ ...sourceOf("a", "one"), onChange: () => stop });
    tools.setOverlay(overlayOf([{ ...sourceOf("o", "two"), onChange: () => stop }]));
    await tools[Symbol.asyncDispose]();
    await tools[Symbol.asyncDispose]();
    expect(stop).toHaveBeenCalledTimes(2);
  });
});

describe("a saved state", () => {
  it("is restored at the same generation", () => {
    const tools = new AgentTools();
    tools.add(sourceOf("a", "one", "two"));
    tools.choose("one", false);
    const saved = JSON.parse(JSON.stringify(tools.save())) as ReturnType<typeof tools.save>;
    tools.restore(saved);
    expect(names(tools)).toEqual(["two"]);
    expect(tools.choices).toEqual(new Map([["one", false]]));
  });

  it("is refused at another one", () => {
    const tools = new AgentTools();
    const a = sourceOf("a", "one");
    tools.add(a);
    const saved = tools.save();
    a.set("two");
    expect(() => tools.restore(saved)).toThrow(expect.objectContaining({ code: "tools_stale" }));
  });
});

it("an overlay of nothing but sources stands beside the base", () => {
  const tools = new AgentTools();
  tools.add(sourceOf("base", "one"));
  const overlay = { sources: [sourceOf("more", "two")] };
  tools.setOverlay(overlay);
  expect([...tools.artifact().catalog.keys()]).toEqual(["one", "two"]);
  const { key } = tools.artifact();
  tools.setOverlay({ ...overlay, contributions: [], base: true });
  expect(tools.artifact().key).toEqual(key);
});

describe("an overlay", () => {
  const base = () => {
    const tools = new AgentTools({
      filter: { deny: ["secret"] },
      plugins: [{ id: "p", version: "1", sources: [sourceOf("p", "plug")] }],
    });
    tools.add(sourceOf("a", "one", "two"));
    return tools;
  };
  it.each<[string, Overlay, string[]]>([
    ["adds its tools after the base", overlayOf([sourceOf("o", "three")]), ["p plug", "a one", "a two", "o three"]],
    ["shadows base tools of the same name", overlayOf([sourceOf("o", "one")]), ["p plug", "a two", "o one"]],
    ["alone is all there is with the base off", overlayOf([sourceOf("o", "one")], { base: false }), ["o one"]],
    ["without sources and base leaves nothing", overlayOf([], { base: false }), []],
    ["is filtered like the base", overlayOf([sourceOf("o", "secret", "three")], { base: false }), ["o three"]],
  ])("%s", (_, overlay, expected) => {
    const tools = base();
    tools.setOverlay(overlay);
    const artifact = tools.artifact();
    const owned = Array.from(artifact.catalog.keys(), (name) =>
      artifact.describe({ toolId: "1", name, input: {} }).title.replace(" does", ""),
    );
    expect(owned).toEqual(expected);
  });

  const o = sourceOf("o", "three");
  const said = { slot: "context", title: "Here", content: "now" } as const;
  it.each<[string, number, Overlay]>([
    [
      "equal by identity and value keeps its revision",
      1,
      overlayOf([o], { contributions: [{ ...said, priority: 0 }] }),
    ],
    ["with an equal but other source has another", 2, overlayOf([{ ...o }], { contributions: [said] })],
    ["with another contribution has another", 2, overlayOf([o], { contributions: [{ ...said, content: "then" }] })],
    ["with the base off has another", 2, overlayOf([o], { contributions: [said], base: false })],
  ])("%s", (_, revision, overlay) => {
    const tools = base();
    tools.setOverlay(overlayOf([o], { contributions: [said] }));
    tools.setOverlay(overlay);
    expect(tools.artifact().key.overlayRevision).toBe(revision);
  });

  it("that is equal shows what its sources changed meanwhile, also where they did not say so", () => {
    const tools = base();
    const source = { ...sourceOf("o", "three"), onChange: () => () => undefined };
    tools.setOverlay(overlayOf([source], { base: false }));
    source.set("four");
    expect(names(tools)).toEqual(["three"]);
    tools.setOverlay(overlayOf([source], { base: false }));
    expect(names(tools)).toEqual(["four"]);
    expect(tools.artifact().key.overlayRevision).toBe(1);
  });

  it.each<[string, Overlay, string]>([
    [
      "two sources have the same tool",
      overlayOf([sourceOf("o", "x"), sourceOf("q", "x")]),
      'o and q both have a tool "x"',
    ],
    [
      "a source cannot be read",
      overlayOf([
        sourceOf("q", "y"),
        {
          ...sourceOf("o"),
          list: () => {
            throw new Error("lost");
          },
        },
      ]),
      "o cannot say its tools: lost",
    ],
    [
      "a contribution cannot be said",
      { sources: [], contributions: [{ slot: "nowhere", title: "T", content: "x" } as never], base: true },
      'a contribution "T" cannot be said',
    ],
  ])("changes nothing when %s", (_, overlay, message) => {
    const tools = base();
    tools.setOverlay(overlayOf([sourceOf("before", "three")]));
    const before = tools.artifact();
    expect(() => tools.setOverlay(overlay)).toThrow(message);
    expect(tools.artifact()).toBe(before);
  });
});

describe("an artifact", () => {
  it("that is held stays as it was, and its calls go to the source that had the tool", async () => {
    const tools = new AgentTools({
      contributions: [{ slot: "tools", title: "One", content: "use it", tools: ["one"] }],
    });
    const a = sourceOf("a", "one");
    tools.add(a);
    const held = tools.artifact();
    a.set("two");
    tools.add(sourceOf("b", "one"));
    expect([...held.catalog.keys()]).toEqual(["one"]);
    expect(held.definitions.map(({ name }) => name)).toEqual(["one"]);
    expect(held.preamble).toContain("use it");
    const prepared = await held.prepare({ toolId: "1", name: "one", input: {} }, { signal });
    expect(prepared.kind === "run" && (await prepared.run(contextOf())).text).toBe("a lost one");
  });

  it("is the same for a plugin revision that returns, and is forgotten after eight others", () => {
    let revision = 0;
    const tools = new AgentTools({ plugins: [{ id: "p", version: "1", revision: () => revision }] });
    const at = (value: number) => {
      revision = value;
      return tools.artifact();
    };
    const first = at(0);
    for (let value = 1; value < 8; value += 1) at(value);
    expect(at(0)).toBe(first);
    for (let value = 1; value <= 8; value += 1) at(value);
    expect(at(0)).not.toBe(first);
  });

  it("says which tool may be meant by one that there is not", async () => {
    const tools = new AgentTools();
    tools.add(sourceOf("a", "read_file", "write"));
    const prepared = await tools.artifact().prepare({ toolId: "1", name: "raed_file", input: {} }, { signal });
    expect(prepared).toMatchObject({ kind: "settled", spec: undefined, result: { outcome: "failed" } });
    expect(prepared.kind === "settled" && prepared.result.text).toContain("did you mean read_file?");
  });

  it("makes a failure of a tool that throws, and none of a log that broke", async () => {
    const tools = new AgentTools();
    const thrower = { ...sourceOf("a", "one"), call: () => Promise.reject(new Error("bad tool")) };
    const recorder: ToolSource = {
      ...sourceOf("b", "two"),
      call: async (_, context) => {
        await context.record({ type: "notice", level: "info", code: "x", message: "x" } as never);
        return { outcome: "ok", text: "" };
      },
    };
    tools.add(thrower);
    tools.add(recorder);
    const run = async (name: string) => {
      const prepared = await tools.artifact().prepare({ toolId: "1", name, input: {} }, { signal });
      if (prepared.kind !== "run") throw new Error("settled");
      return prepared.run(contextOf({ record: () => Promise.reject(new Error("log broke")) }));
    };
    expect(await run("one")).toEqual({ outcome: "failed", text: "one of a failed: bad tool" });
    await expect(run("two")).rejects.toThrow("log broke");
  });
});

describe("what no provider takes", () => {
  const circular: Record<string, unknown> = { type: "object" };
  circular["properties"] = { self: circular };
  const forms: Record<string, unknown> = { type: "object", $defs: { d40: {} } };
  for (let depth = 0; depth < 40; depth += 1) {
    const next = { $ref: `#/$defs/d${depth + 1}` };
    (forms["$defs"] as Record<string, unknown>)[`d${depth}`] = { anyOf: [next, next] };
  }
  forms["anyOf"] = [{ $ref: "#/$defs/d0" }];
  it.each<[string, unknown, RegExp]>([
    ["is no object", "text", /not an object/],
    ["takes a list", { type: "array" }, /"array"/],
    ["goes in a circle", circular, /no JSON/],
    ["is too long", { type: "object", description: "x".repeat(300_000) }, /longer than/],
    ["has numbers that JSON has not", { type: "object", default: 1n }, /no JSON/],
    ["lists whole values", { enum: [{}] }, /whole values/],
    ["refers elsewhere", { $ref: "https://example.com/schema" }, /refers to/],
    ["refers to itself", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, /refers to/],
    ["multiplies", forms, /more than 200 forms/],
    ["has a text as one of its forms", { anyOf: [{ type: "string" }] }, /something else/],
  ])("is left out, with its source and name: a schema that %s", (_, inputSchema, why) => {
    const { tools, said } = noted();
    tools.add(sourceOf("a", specOf("bad", { inputSchema: inputSchema as never }), "good"));
    expect(names(tools)).toEqual(["good"]);
    expect(said()).toEqual([expect.stringMatching(/^left out of a: bad /)]);
    expect(said()[0]).toMatch(why);
  });

  it.each<[string, unknown, unknown]>([
    ["nothing", undefined, { type: "object", properties: {} }],
    ["no type", { properties: {} }, { type: "object", properties: {} }],
    ["null beside the object", { type: ["object", "null"] }, { type: "object", properties: {} }],
    [
      "a reference on top",
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
  ])("is mended: a schema with %s", (_, inputSchema, expected) => {
    const tools = new AgentTools();
    tools.add(sourceOf("a", specOf("one", { inputSchema: inputSchema as never })));
    expect(tools.artifact().definitions[0]?.inputSchema).toEqual(expected);
  });

  it.each(["with space", "", "1st", "x".repeat(65), "dots.in.it", "search_tools", "call_tool"])(
    "is left out: a tool called %j",
    (name) => {
      const { tools, notices } = noted();
      tools.add(sourceOf("a", name, "good"));
      expect(names(tools)).toEqual(["good"]);
      expect(notices).toEqual([expect.objectContaining({ code: "tool_left_out" })]);
    },
  );

  it("is said in one notice a source, however much it is", () => {
    const { tools, said } = noted();
    tools.add(sourceOf("a", ...Array.from({ length: 5_000 }, (_, index) => `no ${index}`)));
    expect(said()).toEqual([expect.stringMatching(/"no 0".* and 4995 more$/)]);
  });

  it("is a tool listed twice, or something that is none", () => {
    const { tools, said } = noted();
    tools.add(sourceOf("a", "one", "one", null as never));
    expect(names(tools)).toEqual(["one"]);
    expect(said()).toEqual(["left out of a: one (listed twice), something that is no tool"]);
  });
});
