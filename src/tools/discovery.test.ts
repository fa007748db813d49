import { describe, expect, it } from "vitest";
import { AgentTools, passesFilter, readResultSource, type ToolFilter } from "./index.ts";
import { testContext, testSource, testSpec } from "./test-source.ts";

const signal = new AbortController().signal;
const told = (tools: AgentTools) => tools.snapshot().definitions.map(({ name }) => name);

async function run(tools: AgentTools, name: string, input: unknown) {
  const prepared = await tools.snapshot().prepare({ toolId: "1", name, input }, { signal });
  return prepared.kind === "run" ? prepared.run(testContext()) : prepared.result;
}

describe("progressive discovery", () => {
  const many = Array.from({ length: 100 }, (_, index) => testSpec(`tool_${index}`, { description: `number ${index}` }));
  const large = (deferOver?: number) => {
    const tools = new AgentTools({ deferOver });
    tools.add(testSource("own", "bash"), { always: true });
    tools.add(
      testSource("many", ...many, testSpec("create_issue", { description: "opens a ticket", title: "New issue" })),
    );
    return tools;
  };

  it("defines every tool below the limit, and the search-and-call pair above it", () => {
    expect(told(large())).toHaveLength(102);
    expect(told(large(1_000))).toEqual(["bash", "search_tools", "call_tool"]);
    expect(large(1_000).snapshot().catalog.size).toBe(104);
    expect(told(large(Infinity))).toHaveLength(102);
  });

  it("defers tools that ask for it, even if there are few", () => {
    const tools = new AgentTools();
    tools.add(testSource("a", "one", testSpec("two", { defer: true })), { always: true });
    expect(told(tools)).toEqual(["one", "search_tools", "call_tool"]);
    expect(tools.snapshot().definitions[1]?.description).toContain(
      "1 tools can be found only with this search, from: a (1)",
    );
  });

  it.each([
    ["name", "create_issue", "create_issue"],
    ["a word of the name", "ISSUE please", "create_issue"],
    ["a word of the description", "ticket", "create_issue"],
    ["an exact name before longer ones", "tool_1", "tool_1"],
    ["all words before some", "number 42", "tool_42"],
  ])("finds a tool by %s", async (_, query, first) => {
    const { text } = await run(large(0), "search_tools", { query, limit: 1 });
    const [found] = JSON.parse(text.split("\n")[0] ?? "") as { name: string; inputSchema: unknown }[];
    expect(found).toMatchObject({ name: first, inputSchema: { type: "object" } });
  });

  it("limits the size of a search result and reports how many more match", async () => {
    const tools = large(0);
    expect((await run(tools, "search_tools", { query: "tool", limit: 1_000 })).text).toMatch(/\n80 more match\.$/);
    expect((await run(tools, "search_tools", { query: "zzz" })).text).toContain("no tool matches: zzz");
    expect((await run(tools, "search_tools", null)).text).toMatch(/\n96 more match\.$/);
    const long = new AgentTools({ deferOver: 0 });
    const description = "x".repeat(50_000);
    const properties = { p: { description } };
    long.add(
      testSource("a", ...["b", "c"].map((name) => testSpec(name, { description, inputSchema: { properties } }))),
    );
    const { text } = await run(long, "search_tools", { query: "x" });
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain("too long to show");
  });

  it("resolves call_tool to the real tool for plugins and permissions", async () => {
    const seen: string[] = [];
    const tools = new AgentTools({
      deferOver: 0,
      plugins: [{ id: "p", version: "1", beforeCall: ({ call }) => void seen.push(call.name) }],
    });
    const source = testSource("a", "one");
    tools.add(source);
    const call = { toolId: "7", name: "call_tool", input: { name: "one", arguments: { path: "x" } } };
    expect(tools.snapshot().describe(call)).toEqual({ title: "a does one" });
    const prepared = await tools.snapshot().prepare(call, { signal });
    expect(prepared).toMatchObject({ kind: "run", spec: { name: "one" }, call: { toolId: "7", name: "one" } });
    expect(await run(tools, "call_tool", { name: "one", arguments: '{"path":"y"}' })).toMatchObject({ outcome: "ok" });
    expect(source.calls.map(({ input }) => input)).toEqual([{ path: "y" }]);
    expect(seen).toEqual(["one", "one"]);
  });

  it.each<[string, unknown, RegExp]>([
    ["without a name", { arguments: {} }, /call_tool expects/],
    ["to itself", { name: "call_tool", arguments: {} }, /cannot call itself/],
    ["to an unknown tool", { name: "tolo_1" }, /there is no tool "tolo_1".*did you mean tool_1\?/],
    ["with arguments that are not JSON", { name: "tool_1", arguments: "{" }, /not valid JSON/],
  ])("rejects a call %s", async (_, input, why) => {
    const result = await run(large(0), "call_tool", input);
    expect(result.outcome).toBe("failed");
    expect(result.text).toMatch(why);
  });
});

describe("a filter", () => {
  const spec = testSpec("fs__read", { hints: { readOnly: true, openWorld: false } });
  it.each<[string, ToolFilter, boolean]>([
    ["allows everything if it is empty", {}, true],
    ["allows everything if its lists are empty", { allow: [], deny: [] }, true],
    ["allows an exact name", { allow: ["fs__read"] }, true],
    ["allows a prefix", { allow: ["fs__*"] }, true],
    ["excludes a name that is not allowed", { allow: ["fs__rea", "git__*"] }, false],
    ["applies deny after allow", { allow: ["fs__*"], deny: ["fs__read"] }, false],
    ["allows by annotation", { allow: [{ readOnly: true }] }, true],
    ["denies by annotation", { deny: [{ openWorld: false }] }, false],
    ["requires all annotations of a pattern", { allow: [{ readOnly: true, destructive: true }] }, false],
    ["applies the protocol's defaults to missing annotations", { deny: [{ destructive: true }] }, true],
  ])("%s", (_, filter, expected) => {
    expect(passesFilter(spec, filter)).toBe(expected);
  });

  it("treats a tool without annotations as destructive and open-world", () => {
    expect(passesFilter(testSpec("x"), { allow: [{ destructive: true, openWorld: true, readOnly: false }] })).toBe(
      true,
    );
  });
});

describe("read_result", () => {
  const text = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${index % 1_000 === 0 ? "Mark" : ""}`).join(
    "\n",
  );
  const blobs = new Map([
    ["long", new TextEncoder().encode(text)],
    ["image", new Uint8Array([0xff, 0xd8])],
  ]);
  const context = testContext({ getBlob: (hash) => Promise.resolve(blobs.get(hash)) });
  const read = (input: unknown) => readResultSource().call({ toolId: "1", name: "read_result", input }, context);

  it("reads a part and reports the next offset", async () => {
    const first = await read({ handle: "long" });
    expect(first.text).toBe(
      `${text.slice(0, 20_000)}\n[characters 0 to 20000 of ${text.length}; continue with offset 20000]`,
    );
    expect((await read({ handle: "long", offset: text.length - 3 })).text).toMatch(/\[characters \d+ to \d+ of \d+\]$/);
    expect((await read({ handle: "long", offset: 1_000_000 })).text).toBe(
      `[the result ends at character ${text.length}]`,
    );
  });

  it("finds lines by plain text", async () => {
    expect((await read({ handle: "long", pattern: "mark" })).text.split("\n")).toHaveLength(5);
    const some = await read({ handle: "long", pattern: "mark", limit: 20 });
    const [, offset] = /continue with offset (\d+)/.exec(some.text) ?? [];
    expect((await read({ handle: "long", pattern: "mark", offset: Number(offset) })).text).toMatch(
      /^1001: line 1000 Mark/,
    );
    expect((await read({ handle: "long", pattern: ".*" })).text).toBe('[no line contains ".*"]');
  });

  it.each([
    ["an unknown handle", { handle: "gone" }, /no stored result has the handle "gone"/],
    ["a result that is not text", { handle: "image" }, /not text \(2 bytes\)/],
    ["invalid arguments", { handle: "long", limit: 1e9 }, /limit/],
  ])("fails with a clear message for %s", async (_, input, why) => {
    const result = await read(input);
    expect(result.outcome).toBe("failed");
    expect(result.text).toMatch(why);
  });
});
