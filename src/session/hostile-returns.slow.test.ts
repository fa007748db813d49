/** Whatever a plugin, a source of tools or an agent returns or throws: its turn ends once, and the session goes on. */
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
const sampled = <T>(all: readonly T[], one: number): readonly T[] =>
  IS_SLOW_RUN ? all : all.filter((_, index) => index % one === 0);

const NAMES = Object.keys(HOSTILE_VALUES);
const toolName = (index: number) => `odd${index}`;

/** The model calls the tool of each value once in each turn. */
const script: Script = ({ messages }) =>
  messages.at(-1)?.toolResults.length === 0
    ? calls(NAMES.map((_, index) => ({ name: toolName(index), input: {} })))
    : say("Went on.");

type Loose<T> = { -readonly [Key in keyof T]?: unknown };
type Entry = (
  value: unknown,
  spec: ToolSpec,
) => { readonly source?: Loose<ToolSource>; readonly plugin?: Loose<Plugin> };

const fromSource = (source: Loose<ToolSource>) => ({ source });
const fromPlugin = (plugin: Loose<Plugin>) => ({ plugin });
const thrown = (value: unknown): never => {
  throw value;
};
/** A hook that says something of the plugin's own tool only. */
const own = (spec: ToolSpec, say: () => unknown) => (hooked: HookedCall) =>
  hooked.call.name === spec.name ? say() : undefined;
const inCall = (use: (context: ToolContext) => unknown) =>
  fromSource({
    call: async (_: unknown, context: ToolContext) => {
      await use(context);
      return OK;
    },
  });
const field = <T extends object>(base: T, name: string, value: unknown) => ({ ...base, [name]: value });

const RESULT_FIELDS = ["outcome", "text", "locations", "diffs", "blobs", "structured"];
const CONTRIBUTION = { slot: "tools", title: "T", content: "C" };

/** Each way on which a value that is not ours comes in. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  describe: (value) => fromSource({ describe: () => value }),
  "describe, thrown": (value) => fromSource({ describe: () => thrown(value) }),
  "describe, title": (value) => fromSource({ describe: () => ({ title: value }) }),
  "describe, locations": (value) => fromSource({ describe: () => ({ title: "t", locations: value }) }),
  "describe, a location": (value) => fromSource({ describe: () => ({ title: "t", locations: [value] }) }),
  list: (value) => fromSource({ list: () => value }),
  "list, thrown": (value) => fromSource({ list: () => thrown(value) }),
  "list, an element": (value, spec) => fromSource({ list: () => [spec, value] }),
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
      (value: unknown, spec: ToolSpec) => fromSource({ list: () => [field(spec, name, value)] }),
    ]),
  ),
  "list, a property": (value, spec) =>
    fromSource({ list: () => [{ ...spec, inputSchema: { type: "object", properties: { a: value } } }] }),
  onChange: (value) => fromSource({ onChange: () => value }),
  "onChange, thrown": (value) => fromSource({ onChange: () => thrown(value) }),
  "onChange, thrown by its stop": (value) => fromSource({ onChange: () => () => thrown(value) }),
  call: (value) => fromSource({ call: async () => value }),
  "call, at once": (value) => fromSource({ call: () => value }),
  "call, thrown": (value) => fromSource({ call: () => thrown(value) }),
  "call, rejected": (value) => fromSource({ call: async () => thrown(value) }),
  ...Object.fromEntries(
    RESULT_FIELDS.map((name) => [
      `call, ${name}`,
      (value: unknown) => fromSource({ call: async () => field(OK, name, value) }),
    ]),
  ),
  ...Object.fromEntries(
    ["locations", "diffs", "blobs"].map((name) => [
      `call, one of ${name}`,
      (value: unknown) => fromSource({ call: async () => field(OK, name, [value]) }),
    ]),
  ),
  "call, hash of a blob": (value) =>
    fromSource({ call: async () => ({ ...OK, blobs: [{ type: "blob", hash: value, mediaType: "image/png" }] }) }),
  progress: (value) => inCall((context) => context.progress(value as never)),
  record: (value) => inCall((context) => context.record(value as never)),
  "record, text": (value) => inCall((context) => context.record({ type: "output.text", text: value } as never)),
  "record, input": (value) =>
    inCall((context) =>
      context.record({ type: "tool.started", toolId: "x", name: "x", title: "x", kind: "other", input: value }),
    ),
  ask: (value) => inCall((context) => context.ask(value as never)),
  "ask, message": (value) => inCall((context) => context.ask({ message: value as never })),
  "ask, schema": (value) => inCall((context) => context.ask({ ...QUESTION, schema: value })),
  "ask, options": (value) => inCall((context) => context.ask(QUESTION, value as never)),
  "ask, signal": (value) => inCall((context) => context.ask(QUESTION, { signal: value as never })),
  "ask, completed": (value) => inCall((context) => context.ask(QUESTION, { completed: value as never })),
  putBlob: (value) => inCall((context) => context.putBlob(value as never)),
  getBlob: (value) => inCall((context) => context.getBlob(value as never)),
  "call of another tool": (value) => inCall((context) => context.call?.(value as never, {})),
  "call of another tool, input": (value) => inCall((context) => context.call?.("list", value)),
  revision: (value) => fromPlugin({ revision: () => value }),
  "revision, thrown": (value) => fromPlugin({ revision: () => thrown(value) }),
  contributions: (value) => fromPlugin({ contributions: () => value }),
  "contributions, thrown": (value) => fromPlugin({ contributions: () => thrown(value) }),
  "contributions, an element": (value) => fromPlugin({ contributions: () => [value] }),
  ...Object.fromEntries(
    ["slot", "title", "content", "priority", "tools"].map((name) => [
      `contributions, ${name}`,
      (value: unknown) => fromPlugin({ contributions: () => [field(CONTRIBUTION, name, value)] }),
    ]),
  ),
  beforeCall: (value, spec) => fromPlugin({ beforeCall: own(spec, () => value) }),
  "beforeCall, thrown": (value, spec) => fromPlugin({ beforeCall: own(spec, () => thrown(value)) }),
  "beforeCall, refuse": (value, spec) => fromPlugin({ beforeCall: own(spec, () => ({ refuse: value })) }),
  "beforeCall, answer": (value, spec) => fromPlugin({ beforeCall: own(spec, () => ({ answer: value })) }),
  "beforeCall, arguments": (value, spec) => fromPlugin({ beforeCall: own(spec, () => ({ arguments: value })) }),
  afterCall: (value, spec) => fromPlugin({ afterCall: own(spec, () => value) }),
  "afterCall, thrown": (value, spec) => fromPlugin({ afterCall: own(spec, () => thrown(value)) }),
  "afterCall, text": (value, spec) => fromPlugin({ afterCall: own(spec, () => ({ outcome: "ok", text: value })) }),
  turnStarted: (value) => fromPlugin({ turnStarted: () => value }),
  "turnStarted, thrown": (value) => fromPlugin({ turnStarted: () => thrown(value) }),
  "turnEnded, thrown": (value) => fromPlugin({ turnEnded: () => thrown(value) }),
  save: (value) => fromPlugin({ save: () => value }),
  "save, thrown": (value) => fromPlugin({ save: () => thrown(value) }),
  "save, a field": (value) => fromPlugin({ save: () => ({ field: value }) }),
};

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

describe("a value in place of what was promised", () => {
  it.each(sampled(Object.entries(ENTRIES), 5))("fails one call at most: %s", { timeout: 60_000 }, async (_, entry) => {
    await using w = await openWorld(script);
    const plugins = NAMES.map((_, index) => () => pluginOf(index, entry));
    await using rookery = await Rookery.open({ ...w.options, plugins });
    const session = await rookery.openSession({ permissions: "all", attended: false });
    for (const prompt of ["go", "go again"])
      expect(await session.prompt(prompt).outcome).toMatchObject({ status: "done" });
    const events = await w.events(session.id);
    for (const event of events) EventSchema.parse(event);
    expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2);
    expect(events.filter((event) => event.type === "notice" && event.code === "event_cut")).toEqual([]);
    expect(unhandled.splice(0)).toEqual([]);
  });
});

describe("a value in place of a plugin or of a part of one", () => {
  const part = (name: string) => (value: unknown) => ({ id: "p", version: "1", [name]: value });
  const source = { id: "s", list: () => [SPEC], describe: () => ({ title: "odd" }), call: async () => OK };
  it.each<[string, (value: unknown) => unknown]>([
    ["the plugin", (value) => value],
    ...["id", "version", "sources", "revision", "beforeCall", "save", "contributions"].map(
      (name): [string, (value: unknown) => unknown] => [name, part(name)],
    ),
    ["a source", (value) => part("sources")([value])],
    ["the id of a source", (value) => part("sources")([{ ...source, id: value }])],
    ["the list of a source", (value) => part("sources")([{ ...source, list: value }])],
    ["onChange of a source", (value) => part("sources")([{ ...source, onChange: value }])],
  ])("is refused with plugin_failed or left out: %s", async (_, make) => {
    await using w = await openWorld(() => say("Hello."));
    let value: unknown;
    await using rookery = await Rookery.open({ ...w.options, plugins: [() => make(value) as Plugin] });
    for (const hostile of sampled(Object.values(HOSTILE_VALUES), 6)) {
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

describe("a value in place of the outcome of a turn", () => {
  it.each<[string, (value: unknown) => unknown]>([
    ["resolved", (value) => Promise.resolve([value]).then(([one]) => one)],
    ["returned", (value) => value],
    ["thrown", thrown],
    ["rejected", async (value) => thrown(value)],
    ["status", async (value) => ({ status: value })],
    ["message", async (value) => ({ status: "failed", code: "agent_failed", message: value })],
    ["time of a limit", async (value) => ({ status: "limited", message: "m", resetsAt: value ?? 5 })],
  ])("fails that turn, and the next one is done: %s", async (_, make) => {
    let end: () => unknown = () => ({ status: "done" });
    await using played = await openScriptedSession(() => end() as Promise<TurnOutcome>, { timeLimits: { park: 0 } });
    const values = sampled(Object.values(HOSTILE_VALUES), 3);
    for (const hostile of values) {
      end = () => make(hostile());
      expect(await played.session.prompt("go").outcome).toMatchObject({ status: "failed" });
      end = async () => ({ status: "done" });
      expect(await played.session.prompt("again").outcome).toEqual({ status: "done" });
    }
    const events = await played.events();
    expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2 * values.length);
    expect(unhandled.splice(0)).toEqual([]);
  });
});

/** A plugin with a source of one tool, which returns hostile value number `index` in one place. */
function pluginOf(index: number, entry: Entry): Plugin {
  const name = toolName(index);
  const { source, plugin } = entry(Object.values(HOSTILE_VALUES)[index]?.(), { ...SPEC, name });
  const whole = {
    id: `s${index}`,
    list: () => [{ ...SPEC, name }],
    describe: () => ({ title: "odd" }),
    call: async () => OK,
    ...source,
  };
  return { id: `p${index}`, version: "1", sources: [whole], ...plugin } as unknown as Plugin;
}
