/** The library validates all arguments at its boundary, including wrong types from plain JavaScript. */
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as clientModule from "../../src/client/index.ts";
import * as rookeryModule from "../../src/index.ts";
import { Session } from "../../src/session/index.ts";
import { openWorld } from "../../src/session/test-scene.ts";
import { say } from "../../src/testing/index.ts";
import { ROOKERY, SESSION, TABLES, TASKS, TOOLS } from "./methods.ts";
import { STORE, type Methods, type Scene } from "./store-methods.ts";

const { createClient } = clientModule;
const { LoopbackHttp, Rookery, RookeryError, SessionEvent, openMemoryStore } = rookeryModule;

let scene: Scene & Awaited<ReturnType<typeof openWorld>>;

beforeAll(async () => {
  const world = await openWorld(() => say("fine"));
  const rookery = world.owned.use(await Rookery.open(world.options));
  const session = await rookery.openSession();
  const loopback = world.owned.use(await LoopbackHttp.listen());
  const fetch = () => Promise.reject(new Error("unexpected request of the client"));
  scene = {
    ...world,
    rookery,
    session,
    loopback,
    client: createClient({ url: "http://127.0.0.1:1", token: "t", fetch }),
  };
});
afterAll(() => scene[Symbol.asyncDispose]());

describe.each(Object.entries(TABLES))("%s", (_, methods) => {
  it.each(Object.entries(methods))("%s rejects wrong arguments with input_invalid", async (_name, [call, ...args]) => {
    const before = await snapshot();
    const accepted: string[] = [];
    for (const [index, { wrong }] of args.entries()) {
      for (const value of wrong) {
        const given = args.map(({ valid }, at) => (at === index ? value : valid)) as never[];
        const code = await codeOf(() => call(scene, ...given));
        if (code !== "input_invalid") accepted.push(`argument ${index} ${show(value)}: ${code}`);
      }
    }
    expect(accepted).toEqual([]);
    expect(await snapshot()).toEqual(before);
  });
});

describe("a string of 5 MB", () => {
  const long = "x".repeat(5 * 1024 * 1024);
  it.each<[string, (scene: Scene) => unknown]>([
    ["title of a session", ({ rookery }) => rookery.openSession({ title: long })],
    ["agent of a session", ({ rookery }) => rookery.openSession({ agent: long })],
    ["folder of a session", ({ rookery }) => rookery.openSession({ cwd: long })],
    ["title of a fork", ({ rookery, session }) => rookery.forkSession(session.id, { title: long })],
    ["reason of an end", ({ session }) => session.end(long)],
    ["id of a turn", ({ session }) => session.prompt("a", { turnId: long }).outcome],
    ["model", ({ session }) => session.change({ model: long })],
    ["tool", ({ session }) => session.chooseTool(long, false)],
    ["message of an answer", ({ session }) => session.answer("r", { decision: "deny", message: long })],
    ["title of a task", ({ rookery }) => rookery.startTask({ prompt: "a", title: long })],
  ])("is rejected with input_invalid as %s", async (_, call) => {
    const before = await snapshot();
    expect(await codeOf(() => call(scene))).toBe("input_invalid");
    expect(await snapshot()).toEqual(before);
  });
});

describe("a session after all rejected calls", () => {
  it("accepts a prompt, and its log is valid", async () => {
    expect(await scene.session.prompt("next").outcome).toMatchObject({ status: "done" });
    for (const event of await scene.events(scene.session.id)) SessionEvent.parse(event);
  });
});

describe("the tables of methods", () => {
  /** They compute something from values that come from the log or from an error. */
  const pure = ["apply", "applyAll", "applyTask", "emptyState", "emptySummary", "summarize", "isRookeryError"];
  const ofErrors = ["errorOf", "toUnreachableError"];

  it("contain every exported function", () => {
    const isFunction = (value: unknown) => typeof value === "function" && !/^class\b/.test(String(value));
    const exported = Object.entries({ ...rookeryModule, ...clientModule }).filter(([, value]) => isFunction(value));
    const known = [
      ...Object.keys(TABLES["FUNCTIONS"] ?? {}),
      ...pure,
      ...ofErrors,
      "openMemoryStore",
      "openPostgresStore",
    ];
    expect(exported.map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  const methodsOf = (prototype: object): string[] =>
    Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { value }]) =>
      typeof value === "function" && name !== "constructor" ? [name] : [],
    );
  const withoutArguments = [
    "close",
    "cancel",
    "idle",
    "list",
    "servers",
    "offer",
    "countTasks",
    "countSessions",
    "check",
    "heldTasks",
    "startDemoTask",
    "workers",
  ];

  it("contain every method that takes an argument", () => {
    const missing = (object: object, methods: Methods) =>
      methodsOf(object).filter((name) => !(name in methods) && !withoutArguments.includes(name));
    expect(missing(Rookery.prototype, ROOKERY)).toEqual([]);
    expect(missing(Session.prototype, SESSION)).toEqual([]);
    expect(missing(scene.session.tools, TOOLS)).toEqual([]);
    expect(missing(Object.getPrototypeOf(scene.rookery.tasks) as object, TASKS)).toEqual(["run"]); // is runTasks
    expect(missing(openMemoryStore(), STORE)).toEqual([]);
  });
});

async function snapshot(): Promise<unknown> {
  const { store } = scene;
  const sessions = await store.list();
  return { sessions, tasks: await store.tasks(), head: (await store.readFeed({ after: 0 })).head };
}

/** Returns the error code of the call. Also reads the first item if the call returns an iterable. */
async function codeOf(call: () => unknown): Promise<string> {
  const late = new Promise<string>((resolve) => setTimeout(resolve, 2_000, "accepted: still running").unref());
  const outcome = async (): Promise<string> => {
    try {
      const result: unknown = await call();
      if (typeof result === "object" && result !== null && Symbol.asyncIterator in result) {
        await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
      }
      return "accepted";
    } catch (error) {
      return error instanceof RookeryError ? error.code : `threw ${String(error)}`;
    }
  };
  return Promise.race([outcome(), late]);
}

function show(value: unknown): string {
  return inspect(value, { depth: 3, breakLength: Infinity, showProxy: true }).slice(0, 400);
}
