import { describe, expect, it } from "vitest";
import { AgentTools, passes, resultsSource, type ToolFilter } from "./index.ts";
import { contextOf, sourceOf, specOf } from "./test-source.ts";

const signal = new AbortController().signal;
const told = (tools: AgentTools) => tools.artifact().definitions.map(({ name }) => name);

async function run(tools: AgentTools, name: string, input: unknown) {
  const prepared = await tools.artifact().prepare({ toolId: "1", name, input }, { signal });
  return prepared.kind === "run" ? prepared.run(contextOf()) : prepared.result;
}

describe("progressive discovery", () => {
  const many = Array.from({ length: 100 }, (_, index) => specOf(`tool_${index}`, { description: `number ${index}` }));
  const large = (deferOver?: number) => {
    const tools = new AgentTools({ deferOver });
    tools.add(sourceOf("own", "bash"), { always: true });
    tools.add(sourceOf("many", ...many, specOf("create_issue", { description: "opens a ticket", title: "New issue" })));
    return tools;
  };

  it("tells of every tool below the limit, and of the pair past it", () => {
    expect(told(large())).toHaveLength(102);
    expect(told(large(1_000))).toEqual(["bash", "search_tools", "call_tool"]);
    expect(large(1_000).artifact().catalog.size).toBe(104);
    expect(told(large(Infinity))).toHaveLength(102);
  });

  it("holds back tools that ask for it, however few", () => {
    const tools = new AgentTools();
    tools.add(sourceOf("a", "one", specOf("two", { defer: true })), { always: true });
    expect(told(tools)).toEqual(["one", "search_tools", "call_tool"]);
    expect(tools.artifact().definitions[1]?.description).toContain("1 tools are only found so, from: a (1)");
  });

  it.each([
    ["a name", "create_issue", "create_issue"],
    ["a word of the name", "ISSUE please", "create_issue"],
    ["a word of the description", "ticket", "create_issue"],
    ["an exact name before longer ones", "tool_1", "tool_1"],
    ["all words before some", "number 42", "tool_42"],
  ])("finds by %s", async (_, query, first) => {
    const { text } = await run(large(0), "search_tools", { query, limit: 1 });
    const [found] = JSON.parse(text.split("\n")[0] ?? "") as { name: string; inputSchema: unknown }[];
    expect(found).toMatchObject({ name: first, inputSchema: { type: "object" } });
  });

  it("bounds what a search returns, and says how much more there is", async () => {
    const tools = large(0);
    expect((await run(tools, "search_tools", { query: "tool", limit: 1_000 })).text).toMatch(/\n80 more match\.$/);
    expect((await run(tools, "search_tools", { query: "zzz" })).text).toContain("no tool has any of: zzz");
    expect((await run(tools, "search_tools", null)).text).toMatch(/\n96 more match\.$/);
    const long = new AgentTools({ deferOver: 0 });
    const description = "x".repeat(50_000);
    const properties = { p: { description } };
    long.add(sourceOf("a", ...["b", "c"].map((name) => specOf(name, { description, inputSchema: { properties } }))));
    const { text } = await run(long, "search_tools", { query: "x" });
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain("too long to show");
  });

  it("shows everyone the real tool behind call_tool", async () => {
    const seen: string[] = [];
    const tools = new AgentTools({
      deferOver: 0,
      plugins: [{ id: "p", version: "1", beforeCall: ({ call }) => void seen.push(call.name) }],
    });
    const source = sourceOf("a", "one");
    tools.add(source);
    const call = { toolId: "7", name: "call_tool", input: { name: "one", arguments: { path: "x" } } };
    expect(tools.artifact().describe(call)).toEqual({ title: "a does one" });
    const prepared = await tools.artifact().prepare(call, { signal });
    expect(prepared).toMatchObject({ kind: "run", spec: { name: "one" }, call: { toolId: "7", name: "one" } });
    expect(await run(tools, "call_tool", { name: "one", arguments: '{"path":"y"}' })).toMatchObject({ outcome: "ok" });
    expect(source.calls.map(({ input }) => input)).toEqual([{ path: "y" }]);
    expect(seen).toEqual(["one", "one"]);
  });

  it.each<[string, unknown, RegExp]>([
    ["without a name", { arguments: {} }, /call_tool takes/],
    ["of itself", { name: "call_tool", arguments: {} }, /cannot call itself/],
    ["of a tool that there is not", { name: "tolo_1" }, /there is no tool "tolo_1".*did you mean tool_1\?/],
    ["with arguments that are no JSON", { name: "tool_1", arguments: "{" }, /not JSON/],
  ])("refuses a call %s", async (_, input, why) => {
    const result = await run(large(0), "call_tool", input);
    expect(result.outcome).toBe("failed");
    expect(result.text).toMatch(why);
  });
});

describe("a filter", () => {
  const spec = specOf("fs__read", { hints: { readOnly: true, openWorld: false } });
  it.each<[string, ToolFilter, boolean]>([
    ["that is empty allows", {}, true],
    ["with empty lists allows", { allow: [], deny: [] }, true],
    ["allows an exact name", { allow: ["fs__read"] }, true],
    ["allows a prefix", { allow: ["fs__*"] }, true],
    ["leaves out what is not allowed", { allow: ["fs__rea", "git__*"] }, false],
    ["denies after it allowed", { allow: ["fs__*"], deny: ["fs__read"] }, false],
    ["allows by annotation", { allow: [{ readOnly: true }] }, true],
    ["denies by annotation", { deny: [{ openWorld: false }] }, false],
    ["wants all annotations of a pattern", { allow: [{ readOnly: true, destructive: true }] }, false],
    ["takes what is said nothing of as the protocol does", { deny: [{ destructive: true }] }, true],
  ])("%s", (_, filter, expected) => {
    expect(passes(spec, filter)).toBe(expected);
  });

  it("takes a tool that says nothing for destructive and open", () => {
    expect(passes(specOf("x"), { allow: [{ destructive: true, openWorld: true, readOnly: false }] })).toBe(true);
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
  const context = contextOf({ getBlob: (hash) => Promise.resolve(blobs.get(hash)) });
  const read = (input: unknown) => resultsSource().call({ toolId: "1", name: "read_result", input }, context);

  it("reads a part, and says where to go on", async () => {
    const first = await read({ handle: "long" });
    expect(first.text).toBe(
      `${text.slice(0, 20_000)}\n[characters 0 to 20000 of ${text.length}; go on with offset 20000]`,
    );
    expect((await read({ handle: "long", offset: text.length - 3 })).text).toMatch(/\[characters \d+ to \d+ of \d+\]$/);
    expect((await read({ handle: "long", offset: 1_000_000 })).text).toBe(`[it ends at character ${text.length}]`);
  });

  it("finds lines", async () => {
    expect((await read({ handle: "long", pattern: "mark" })).text.split("\n")).toHaveLength(5);
    const some = await read({ handle: "long", pattern: "mark", limit: 20 });
    const [, offset] = /go on with offset (\d+)/.exec(some.text) ?? [];
    expect((await read({ handle: "long", pattern: "mark", offset: Number(offset) })).text).toMatch(
      /^1001: line 1000 Mark/,
    );
    expect((await read({ handle: "long", pattern: ".*" })).text).toBe('[no line has ".*"]');
  });

  it.each([
    ["a handle that there is not", { handle: "gone" }, /no kept result "gone"/],
    ["something that is not text", { handle: "image" }, /not text: 2 bytes/],
    ["arguments that it does not take", { handle: "long", limit: 1e9 }, /limit/],
  ])("fails in words for %s", async (_, input, why) => {
    const result = await read(input);
    expect(result.outcome).toBe("failed");
    expect(result.text).toMatch(why);
  });
});
