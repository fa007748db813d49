/** Plugins and tool sources may return anything: at most a call fails, and the session continues. */
import { describe, expect, it } from "vitest";
import {
  SessionEvent as EventSchema,
  type SessionEvent,
  type ToolContext,
  type ToolSource,
  type ToolSpec,
} from "../domain/index.ts";
import { Rookery } from "../rookery.ts";
import { call, collect, say, type Script } from "../testing/index.ts";
import type { Plugin } from "../tools/index.ts";
import { openWorld } from "./test-scene.ts";

const SPEC: ToolSpec = { name: "odd", description: "", inputSchema: { type: "object" }, kind: "other", readOnly: true };
const OK = { outcome: "ok", text: "did it" };

type Loose = { readonly [Key in keyof ToolSource]?: unknown };

/** The model calls the tool once per turn. */
const script: Script = ({ messages }) => (messages.at(-1)?.toolResults.length === 0 ? call("odd") : say("Went on."));

/** Both turns must end as `done`, and every event must be valid. */
async function playTwoTurns(plugin: Partial<Record<keyof Plugin, unknown>>): Promise<SessionEvent[]> {
  await using w = await openWorld(script);
  await using rookery = await Rookery.open({
    ...w.options,
    plugins: [() => ({ id: "p", version: "1", ...plugin }) as unknown as Plugin],
  });
  const session = await rookery.openSession({ permissions: "all" });
  const events: SessionEvent[] = [];
  for (const prompt of ["go", "go again"]) {
    const turn = session.prompt(prompt);
    events.push(...(await collect(turn)));
    expect(await turn.outcome).toMatchObject({ status: "done" });
  }
  for (const event of await w.events(session.id)) EventSchema.parse(event);
  return events;
}

function withSource(source: Loose): Promise<SessionEvent[]> {
  const whole = { id: "s", list: () => [SPEC], describe: () => ({ title: "odd" }), call: async () => OK, ...source };
  return playTwoTurns({ sources: [whole] });
}

const calling = (use: (context: ToolContext) => unknown) => ({
  call: async (_: unknown, context: ToolContext) => {
    await use(context);
    return OK;
  },
});
const CIRCLE: Record<string, unknown> = {};
CIRCLE["self"] = CIRCLE;

describe("a tool source", () => {
  it.each<[string, unknown]>([
    ["a number as title", { title: 5 }],
    ["an object as title", { title: {} }],
    ["no title", {}],
    ["an empty title", { title: "" }],
    ["a lone surrogate as title", { title: "\ud800" }],
    ["a very long title", { title: "x".repeat(10_000_000) }],
    ["nothing", undefined],
    ["null", null],
    ["a promise", Promise.resolve({ title: "late" })],
    ["locations that are not a list", { title: "odd", locations: "a.ts" }],
    ["locations without a file", { title: "odd", locations: [{ path: 5 }, null] }],
    ["a location at line 0", { title: "odd", locations: [{ path: "a", line: 0 }] }],
  ])("may describe a call with %s", async (_, description) => {
    const events = await withSource({ describe: () => description });
    const [started] = events.filter((event) => event.type === "tool.started");
    expect(started?.title.length).toBeGreaterThan(0);
    expect(started?.title.length).toBeLessThanOrEqual(1_000);
  });

  it.each<[string, unknown]>([
    ["an unknown kind", { ...SPEC, kind: "bogus" }],
    ["a title that is not a text", { ...SPEC, title: {} }],
    ["a description that is not a text", { ...SPEC, description: 5 }],
    ["hints that are not an object", { ...SPEC, hints: "none" }],
    ["a timeout that is not a number", { ...SPEC, timeoutMs: "soon" }],
    ["an output schema that is a list", { ...SPEC, outputSchema: [] }],
    ["unknown fields", { ...SPEC, extra: { deep: [] } }],
  ])("may list a tool with %s", async (_, spec) => {
    const events = await withSource({ list: () => [spec], describe: () => undefined });
    expect(events.filter((event) => event.type === "tool.ended").map(({ outcome }) => outcome)).toEqual(["ok", "ok"]);
  });

  it("needs permission unless readOnly is exactly true", async () => {
    await using w = await openWorld(script);
    const source = {
      id: "s",
      list: () => [{ ...SPEC, readOnly: "no" }],
      describe: () => ({ title: "odd" }),
      call: async () => OK,
    };
    const plugins = [() => ({ id: "p", version: "1", sources: [source] }) as unknown as Plugin];
    await using rookery = await Rookery.open({ ...w.options, plugins });
    const session = await rookery.openSession({ permissions: "read" });
    const events = await collect(session.prompt("go"));
    expect(events.filter((event) => event.type === "tool.ended")).toMatchObject([{ outcome: "denied" }]);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a promise", Promise.resolve([SPEC])],
    ["a list of nothing", [null, 5, "odd", {}]],
  ])("may list %s", async (_, list) => {
    await withSource({ list: () => list });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a number as text", { outcome: "ok", text: 5 }],
    ["an unknown outcome", { outcome: "great", text: "" }],
    ["a circular value", { ...OK, structured: CIRCLE }],
    ["a bigint", { ...OK, structured: 5n }],
    ["unknown fields", { ...OK, extra: 1 }],
    ["invalid blobs", { ...OK, blobs: [{}] }],
    ["invalid diffs", { ...OK, diffs: { path: 1 } }],
  ])("may return %s", async (_, result) => {
    await withSource({ call: async () => result });
  });

  it.each<[string, (context: ToolContext) => unknown]>([
    ["reports progress that is not a text", (context) => context.progress({} as never)],
    ["records an invalid event", (context) => context.record({ type: "bogus" } as never)],
    ["records an event with a wrong field", (context) => context.record({ type: "output.text", text: 5 } as never)],
    ["records nothing", (context) => context.record(undefined as never)],
    ["asks nothing", (context) => context.ask(undefined as never)],
    ["asks with a number", (context) => context.ask({ message: 5 } as never)],
    ["asks with a circular value", (context) => context.ask({ message: "?", schema: CIRCLE })],
    ["stores a value that is not bytes", (context) => context.putBlob("text" as never)],
  ])("may be one that %s", async (_, use) => {
    await withSource(calling(use));
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a number", 5],
  ])("may return %s from onChange", async (_, stop) => {
    await withSource({ onChange: () => stop });
  });
});

describe("a plugin", () => {
  it.each<[string, Partial<Record<keyof Plugin, unknown>>]>([
    ["a bigint as revision", { revision: () => 5n }],
    ["an object as revision", { revision: () => CIRCLE }],
    ["a circular value as state", { save: () => CIRCLE }],
    ["invalid contributions", { contributions: () => [{ slot: "bogus", content: 5 }] }],
    ["a number before a call", { beforeCall: () => 5, onFailure: "ignore" }],
    ["arguments that are not JSON", { beforeCall: () => ({ arguments: CIRCLE }) }],
    ["an invalid result after a call", { afterCall: () => ({ outcome: 5 }) }],
    ["a rejection at the start of a turn", { turnStarted: () => Promise.reject(new Error("no")) }],
  ])("may give %s", async (_, plugin) => {
    await playTwoTurns({
      sources: [{ id: "s", list: () => [SPEC], describe: () => ({ title: "odd" }), call: async () => OK }],
      ...plugin,
    });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["one without an ID", { version: "1" }],
    ["one with a number as version", { id: "p", version: 1 }],
    ["one whose hook is not a function", { id: "p", version: "1", beforeCall: "no" }],
    ["one whose sources are not a list", { id: "p", version: "1", sources: {} }],
  ])("that is %s is rejected with plugin_failed", async (_, plugin) => {
    await using w = await openWorld([]);
    await using rookery = await Rookery.open({ ...w.options, plugins: [() => plugin as Plugin] });
    await expect(rookery.openSession({})).rejects.toMatchObject({ code: "plugin_failed" });
  });
});
