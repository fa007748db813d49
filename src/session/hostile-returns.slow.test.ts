/** Tests invalid values from plugins, tool sources and agents: each turn ends once, and the session stays usable. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  SessionEvent as EventSchema,
  type ToolContext,
  type ToolSource,
  type ToolSpec,
  type TurnOutcome,
} from "../domain/index.ts";
import { Rookery } from "../rookery.ts";
import { calls, say, type Script } from "../testing/index.ts";
import type { HookedCall, Plugin } from "../tools/index.ts";
import { HOSTILE_VALUES } from "./test-hostile-values.ts";
import { openScriptedSession } from "./test-scripted-session.ts";
import { openWorld } from "./test-scene.ts";

const SPEC: ToolSpec = { name: "odd", description: "", inputSchema: { type: "object" }, kind: "other", readOnly: true };
const OK = { outcome: "ok", text: "did it" };
const QUESTION = { message: "Which one?" };

const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";
const takeSample = <T>(all: readonly T[], step: number): readonly T[] =>
  IS_SLOW_RUN ? all : all.filter((_, index) => index % step === 0);

const NAMES = Object.keys(HOSTILE_VALUES);
const toolName = (index: number) => `odd${index}`;

/** The model calls the tool of each value once in each turn. */
const script: Script = ({ messages }) =>
  messages.at(-1)?.toolResults.length === 0
    ? calls(NAMES.map((_, index) => ({ name: toolName(index), input: {} })))
    : say("Done.");

type Loose<T> = { -readonly [Key in keyof T]?: unknown };
type Entry = (
  value: unknown,
  spec: ToolSpec,
) => { readonly source?: Loose<ToolSource>; readonly plugin?: Loose<Plugin> };

const fromSource = (source: Loose<ToolSource>) => ({ source });
const fromPlugin = (plugin: Loose<Plugin>) => ({ plugin });
const throwValue = (value: unknown): never => {
  throw value;
};
/** Creates a hook that returns a value only for calls of the plugin's own tool. */
const forOwnTool = (spec: ToolSpec, answer: () => unknown) => (hooked: HookedCall) =>
  hooked.call.name === spec.name ? answer() : undefined;
const duringCall = (use: (context: ToolContext) => unknown) =>
  fromSource({
    call: async (_: unknown, context: ToolContext) => {
      await use(context);
      return OK;
    },
  });
const withField = <T extends object>(base: T, name: string, value: unknown) => ({ ...base, [name]: value });

const RESULT_FIELDS = ["outcome", "text", "locations", "diffs", "blobs", "structured"];
const CONTRIBUTION = { slot: "tools", title: "T", content: "C" };

/** Each place in which a plugin or tool source can pass a value. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  describe: (value) => fromSource({ describe: () => value }),
  "describe, thrown": (value) => fromSource({ describe: () => throwValue(value) }),
  "describe, title": (value) => fromSource({ describe: () => ({ title: value }) }),
  "describe, locations": (value) => fromSource({ describe: () => ({ title: "t", locations: value }) }),
  "describe, one location": (value) => fromSource({ describe: () => ({ title: "t", locations: [value] }) }),
  list: (value) => fromSource({ list: () => value }),
  "list, thrown": (value) => fromSource({ list: () => throwValue(value) }),
  "list, one element": (value, spec) => fromSource({ list: () => [spec, value] }),
  ...Object.fromEntries(
    [
      "name",
      "description",
      "inputSchema",
      "kind",
      "readOnly",
      "timeoutMs",
      "hints",
      "title",
      "outputSchema",
      "defer",
    ].map((name) => [
      `list, ${name}`,
      (value: unknown, spec: ToolSpec) => fromSource({ list: () => [withField(spec, name, value)] }),
    ]),
  ),
  "list, one property": (value, spec) =>
    fromSource({ list: () => [{ ...spec, inputSchema: { type: "object", properties: { a: value } } }] }),
  onChange: (value) => fromSource({ onChange: () => value }),
  "onChange, thrown": (value) => fromSource({ onChange: () => throwValue(value) }),
  "onChange, thrown by its unsubscribe function": (value) => fromSource({ onChange: () => () => throwValue(value) }),
  call: (value) => fromSource({ call: async () => value }),
  "call, returned synchronously": (value) => fromSource({ call: () => value }),
  "call, thrown": (value) => fromSource({ call: () => throwValue(value) }),
  "call, rejected": (value) => fromSource({ call: async () => throwValue(value) }),
  ...Object.fromEntries(
    RESULT_FIELDS.map((name) => [
      `call, ${name}`,
      (value: unknown) => fromSource({ call: async () => withField(OK, name, value) }),
    ]),
  ),
  ...Object.fromEntries(
    ["locations", "diffs", "blobs"].map((name) => [
      `call, one of ${name}`,
      (value: unknown) => fromSource({ call: async () => withField(OK, name, [value]) }),
    ]),
  ),
  "call, hash of a blob": (value) =>
    fromSource({ call: async () => ({ ...OK, blobs: [{ type: "blob", hash: value, mediaType: "image/png" }] }) }),
  progress: (value) => duringCall((context) => context.progress(value as never)),
  record: (value) => duringCall((context) => context.record(value as never)),
  "record, text": (value) => duringCall((context) => context.record({ type: "output.text", text: value } as never)),
  "record, input": (value) =>
    duringCall((context) =>
      context.record({ type: "tool.started", toolId: "x", name: "x", title: "x", kind: "other", input: value }),
    ),
  ask: (value) => duringCall((context) => context.ask(value as never)),
  "ask, message": (value) => duringCall((context) => context.ask({ message: value as never })),
  "ask, schema": (value) => duringCall((context) => context.ask({ ...QUESTION, schema: value })),
  "ask, options": (value) => duringCall((context) => context.ask(QUESTION, value as never)),
  "ask, signal": (value) => duringCall((context) => context.ask(QUESTION, { signal: value as never })),
  "ask, completed": (value) => duringCall((context) => context.ask(QUESTION, { completed: value as never })),
  putBlob: (value) => duringCall((context) => context.putBlob(value as never)),
  getBlob: (value) => duringCall((context) => context.getBlob(value as never)),
  "call of another tool": (value) => duringCall((context) => context.call?.(value as never, {})),
  "call of another tool, input": (value) => duringCall((context) => context.call?.("list", value)),
  revision: (value) => fromPlugin({ revision: () => value }),
  "revision, thrown": (value) => fromPlugin({ revision: () => throwValue(value) }),
  contributions: (value) => fromPlugin({ contributions: () => value }),
  "contributions, thrown": (value) => fromPlugin({ contributions: () => throwValue(value) }),
  "contributions, one element": (value) => fromPlugin({ contributions: () => [value] }),
  ...Object.fromEntries(
    ["slot", "title", "content", "priority", "tools"].map((name) => [
      `contributions, ${name}`,
      (value: unknown) => fromPlugin({ contributions: () => [withField(CONTRIBUTION, name, value)] }),
    ]),
  ),
  beforeCall: (value, spec) => fromPlugin({ beforeCall: forOwnTool(spec, () => value) }),
  "beforeCall, thrown": (value, spec) => fromPlugin({ beforeCall: forOwnTool(spec, () => throwValue(value)) }),
  "beforeCall, refuse": (value, spec) => fromPlugin({ beforeCall: forOwnTool(spec, () => ({ refuse: value })) }),
  "beforeCall, answer": (value, spec) => fromPlugin({ beforeCall: forOwnTool(spec, () => ({ answer: value })) }),
  "beforeCall, arguments": (value, spec) => fromPlugin({ beforeCall: forOwnTool(spec, () => ({ arguments: value })) }),
  afterCall: (value, spec) => fromPlugin({ afterCall: forOwnTool(spec, () => value) }),
  "afterCall, thrown": (value, spec) => fromPlugin({ afterCall: forOwnTool(spec, () => throwValue(value)) }),
  "afterCall, text": (value, spec) =>
    fromPlugin({ afterCall: forOwnTool(spec, () => ({ outcome: "ok", text: value })) }),
  turnStarted: (value) => fromPlugin({ turnStarted: () => value }),
  "turnStarted, thrown": (value) => fromPlugin({ turnStarted: () => throwValue(value) }),
  "turnEnded, thrown": (value) => fromPlugin({ turnEnded: () => throwValue(value) }),
  save: (value) => fromPlugin({ save: () => value }),
  "save, thrown": (value) => fromPlugin({ save: () => throwValue(value) }),
  "save, one field": (value) => fromPlugin({ save: () => ({ field: value }) }),
};

const unhandled: unknown[] = [];
const recordRejection = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", recordRejection));
afterAll(() => void process.off("unhandledRejection", recordRejection));

describe("an invalid value from a plugin or tool source", () => {
  it.each(takeSample(Object.entries(ENTRIES), 5))(
    "fails at most one call: %s",
    { timeout: 60_000 },
    async (_, entry) => {
      await using w = await openWorld(script);
      const plugins = NAMES.map((_, index) => () => createPlugin(index, entry));
      await using rookery = await Rookery.open({ ...w.options, plugins });
      const session = await rookery.openSession({ permissions: "all", attended: false });
      for (const prompt of ["go", "go again"])
        expect(await session.prompt(prompt).outcome).toMatchObject({ status: "done" });
      const events = await w.events(session.id);
      for (const event of events) EventSchema.parse(event);
      expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2);
      expect(events.filter((event) => event.type === "notice" && event.code === "event_cut")).toEqual([]);
      expect(unhandled.splice(0)).toEqual([]);
    },
  );
});

describe("an invalid plugin or part of a plugin", () => {
  const withPart = (name: string) => (value: unknown) => ({ id: "p", version: "1", [name]: value });
  const source = { id: "s", list: () => [SPEC], describe: () => ({ title: "odd" }), call: async () => OK };
  it.each<[string, (value: unknown) => unknown]>([
    ["the plugin", (value) => value],
    ...["id", "version", "sources", "revision", "beforeCall", "save", "contributions"].map(
      (name): [string, (value: unknown) => unknown] => [name, withPart(name)],
    ),
    ["a source", (value) => withPart("sources")([value])],
    ["the id of a source", (value) => withPart("sources")([{ ...source, id: value }])],
    ["the list of a source", (value) => withPart("sources")([{ ...source, list: value }])],
    ["onChange of a source", (value) => withPart("sources")([{ ...source, onChange: value }])],
  ])("is rejected with plugin_failed or skipped: %s", async (_, make) => {
    await using w = await openWorld(() => say("Hello."));
    let value: unknown;
    await using rookery = await Rookery.open({ ...w.options, plugins: [() => make(value) as Plugin] });
    for (const hostile of takeSample(Object.values(HOSTILE_VALUES), 6)) {
      value = hostile();
      try {
        await using session = await rookery.openSession({ permissions: "all" });
        expect(session.tools.list().length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toMatchObject({ name: "RookeryError", code: "plugin_failed" });
      }
    }
    expect(unhandled.splice(0)).toEqual([]);
  });
});

describe("an invalid outcome of a turn", () => {
  it.each<[string, (value: unknown) => unknown]>([
    ["resolved", (value) => Promise.resolve([value]).then(([one]) => one)],
    ["returned", (value) => value],
    ["thrown", throwValue],
    ["rejected", async (value) => throwValue(value)],
    ["status", async (value) => ({ status: value })],
    ["message", async (value) => ({ status: "failed", code: "agent_failed", message: value })],
    ["reset time of a limit", async (value) => ({ status: "limited", message: "m", resetsAt: value ?? 5 })],
  ])("fails that turn but not the next one: %s", async (_, make) => {
    let end: () => unknown = () => ({ status: "done" });
    await using scene = await openScriptedSession(() => end() as Promise<TurnOutcome>, { timeLimits: { park: 0 } });
    const values = takeSample(Object.values(HOSTILE_VALUES), 3);
    for (const hostile of values) {
      end = () => make(hostile());
      expect(await scene.session.prompt("go").outcome).toMatchObject({ status: "failed" });
      end = async () => ({ status: "done" });
      expect(await scene.session.prompt("again").outcome).toEqual({ status: "done" });
    }
    const events = await scene.events();
    expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2 * values.length);
    expect(unhandled.splice(0)).toEqual([]);
  });
});

/** Creates a plugin with one tool that returns the hostile value number `index` in one place. */
function createPlugin(index: number, entry: Entry): Plugin {
  const name = toolName(index);
  const { source, plugin } = entry(Object.values(HOSTILE_VALUES)[index]?.(), { ...SPEC, name });
  const fullSource = {
    id: `s${index}`,
    list: () => [{ ...SPEC, name }],
    describe: () => ({ title: "odd" }),
    call: async () => OK,
    ...source,
  };
  return { id: `p${index}`, version: "1", sources: [fullSource], ...plugin } as unknown as Plugin;
}
