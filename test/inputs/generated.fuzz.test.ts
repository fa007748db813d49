/** Calls every public method with generated wrong values. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { LoopbackHttp, Rookery, RookeryError, SessionEvent, TaskEvent } from "../../src/index.ts";
import { Random } from "../../src/programs/test-fuzz.ts";
import { openWorld } from "../../src/session/test-scene.ts";
import { say } from "../../src/testing/index.ts";
import { TABLES } from "./methods.ts";
import type { Method, Scene } from "./store-methods.ts";
import { THROWING } from "./wrong-values.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 5_000 : 150;
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

/** Three write to the paths that they get; the server of the last one has no tools. The tables have their wrong values. */
const LEFT_OUT = new Set(["openSqliteStore", "copyStore", "Rookery.open", "serveStdio"]);
const METHODS = Object.entries(TABLES).flatMap(([table, methods]) =>
  Object.entries(methods).flatMap(([name, method]): [string, Method][] =>
    LEFT_OUT.has(name) ? [] : [[`${table}.${name}`, method]],
  ),
);
const NASTY: readonly unknown[] = [
  ...[null, undefined, 0, -1, 1.5, NaN, Infinity, 2 ** 60, true, 5n, Symbol("nasty"), THROWING, () => THROWING],
  ...["", " ", "\0", "\ud800", "__proto__", "ses_unknown", "../..", "x".repeat(20_000)],
  ...[[], {}, [[]], { type: "text" }, [null], { length: 3 }, new Date(NaN), new Map([["a", 1]]), Object.create(null)],
];

let scene: Scene & Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  const world = await openWorld(() => say("fine"));
  const rookery = world.owned.use(await Rookery.open(world.options));
  const fetch = () => Promise.reject(new Error("unexpected request of the client"));
  const loopback = world.owned.use(await LoopbackHttp.listen());
  const client = createClient({ url: "http://127.0.0.1:1", token: "t", fetch });
  scene = { ...world, rookery, session: await rookery.openSession(), loopback, client };
});
afterAll(() => scene[Symbol.asyncDispose]());

it(
  "fails with a code or succeeds, and everything that reaches the log is valid",
  async () => {
    const problems: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed += 1) {
      const random = new Random(seed);
      const [name, [call, ...args]] = METHODS[random.below(METHODS.length)]!;
      if (scene.session.state.closed || scene.session.isBroken) await renewSession(); // the last call ended it
      const chosen = random.below(Math.max(1, args.length));
      const given = args.map(({ valid }, index) => (index === chosen ? spoil(random, valid) : valid)) as never[];
      const thrown = await failureOf(() => call(scene, ...given));
      if (thrown !== undefined) problems.push(`seed ${seed}: ${name} threw ${thrown}`);
    }
    expect(problems).toEqual([]);
    for (const { id } of await scene.store.list({ limit: 10_000 })) {
      for (const event of await scene.events(id)) SessionEvent.parse(event);
    }
    for (const { id } of await scene.store.tasks({})) {
      for (const event of (await scene.store.readTask({ taskId: id })).events) TaskEvent.parse(event);
    }
    await renewSession();
    expect(await scene.session.prompt("and now?").text()).toBe("fine");
  },
  isWhole ? 1_200_000 : 60_000,
);

async function renewSession(): Promise<void> {
  scene = { ...scene, session: await scene.rookery.openSession() };
}

/** Replaces one value in it, removes a field, or adds an unknown one. Keeps signals, which end what would run on. */
function spoil(random: Random, value: unknown): unknown {
  const nasty = NASTY[random.below(NASTY.length)];
  if (!isPlain(value) || random.below(4) === 0) return nasty;
  const keys = Object.keys(value).filter((key) => !((value[key as never] as unknown) instanceof AbortSignal));
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
  const key = keys[random.below(Math.max(1, keys.length))];
  const kind = random.below(3);
  if (key === undefined || kind === 0) Object.assign(copy, { unknown_field: nasty });
  else if (kind === 1) Reflect.deleteProperty(copy, key);
  else copy[key as never] = spoil(random, copy[key as never]) as never;
  return copy;
}

function isPlain(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value) as never)
  );
}

/** Returns what was thrown if it has no code. Reads the first item of an iterable; waits a second for what runs on. */
async function failureOf(call: () => unknown): Promise<string | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 1_000, undefined).unref());
  const outcome = async (): Promise<string | undefined> => {
    try {
      const result: unknown = await call();
      if (typeof result === "object" && result !== null && Symbol.asyncIterator in result) {
        await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
      }
      return undefined;
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return undefined; // the reason of the signal
      return error instanceof RookeryError && error.code !== "internal" ? undefined : String(error);
    }
  };
  return Promise.race([outcome(), late]);
}
