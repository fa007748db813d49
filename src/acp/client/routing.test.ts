import { describe, expect, it, vi } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { deferred } from "../../stdx/index.ts";
import type { AcpStep } from "../../testing/acp-agent/index.ts";
import { peerError, type SessionOptions } from "../index.ts";
import { getRejection, openScene, readAll, stalled, updateLine, describeItems } from "./test-scene.ts";

const allow = { outcome: { outcome: "selected", optionId: "allow_once" } } as const;
const read: AcpStep = { readFile: { path: "/project/a.txt" } };

describe("before the agent has named the session", () => {
  it("keeps its updates", async () => {
    await using scene = await openScene({ on: { "session/new": { steps: [{ say: "one" }, { say: "two" }] } } });
    const session = await scene.client.session("/project").create();
    expect(describeItems(session.take())).toEqual(["between one", "between two"]);
  });

  it("serves its requests, so that neither side waits for the other", async () => {
    await using scene = await openScene(
      { on: { "session/new": { steps: [{ say: "hi" }, read, { permission: {} }] } } },
      {
        serve: {
          readTextFile: ({ path, sessionId }) => ({ content: `${sessionId} ${path}` }),
          permission: () => allow,
        },
      },
    );
    const session = await scene.client.session("/project").create();
    expect(scene.answers()).toEqual([{ content: "session-1 /project/a.txt" }, allow]);
    expect(describeItems(session.take())[0]).toBe("between hi");
  });

  it.each(["session/new", "session/load"])(
    "refuses a request during %s that only a reader would answer",
    async (method) => {
      await using scene = await openScene(
        { sessions: [{ sessionId: "stored", cwd: "/project", history: [] }], on: { [method]: { steps: [read] } } },
        { serve: { unhandled: "read" }, capabilities: { fs: { readTextFile: true } } },
      );
      const builder = scene.client.session("/project");
      await (method === "session/new" ? builder.create() : builder.load("stored"));
      expect(scene.answers()).toMatchObject([{ code: -32601 }]);
    },
  );

  it("delays the update handler, but not requests", async () => {
    const seen: string[] = [];
    const update: SessionOptions["update"] = (item) => {
      seen.push(...describeItems([item]));
    };
    await using scene = await openScene(
      { on: { "session/new": { steps: [{ say: "hi" }, read, { say: "there" }] } } },
      {
        serve: {
          update,
          readTextFile: () => {
            seen.push("reads");
            return { content: "" };
          },
        },
      },
    );
    await scene.client.session("/project").create();
    expect(seen).toEqual(["reads", "between hi", 'between fs/read_text_file: {"content":""}', "between there"]);
  });

  it("reports updates of another session as stray", async () => {
    const strays: unknown[] = [];
    const update = vi.fn();
    await using scene = await openScene(
      { on: { "session/new": { steps: [{ in: { session: "other", steps: [{ say: "boo" }] } }] } } },
      { onStray: ({ params, line }) => strays.push(params, JSON.parse(line)), serve: { update } },
    );
    await scene.client.session("/project").create();
    expect(strays).toMatchObject([{ sessionId: "other" }, { params: { sessionId: "other" } }]);
    expect(update).not.toHaveBeenCalled();
  });

  it("bounds the kept updates and delivers the answer", async () => {
    await using scene = await openScene({
      on: { "session/new": { steps: [{ flood: { count: 40, padding: "x".repeat(64 * 1024) } }] } },
    });
    const session = await scene.client.session("/project").create();
    const kept = session.take();
    expect(describeItems(kept).at(-1)).toMatch(/^between 39x/);
    expect(kept.length).toBeLessThan(20);
    expect(session.dropped).toBe(40 - kept.length);
  });

  it("delivers the answer although the update handler is slow", async () => {
    let handled = 0;
    await using scene = await openScene({
      on: { "session/new": { steps: [{ flood: { count: 40, padding: "x".repeat(64 * 1024) } }] } },
    });
    const update = async (): Promise<void> => {
      await new Promise(setImmediate);
      handled += 1;
    };
    await scene.client.session("/project").serve({ update }).create();
    expect(handled).toBe(40);
  });
});

describe("several sessions", () => {
  it("get their own updates in any interleaving", async () => {
    const inB = (text: string): AcpStep => ({ in: { session: "session-2", steps: [{ say: text }] } });
    const steps = [{ say: "a1" }, inB("b1"), { say: "a2" }, { say: "a3" }, inB("b2"), { say: "a4" }, inB("b3")];
    await using scene = await openScene({ prompts: [[{ waitForMessage: "_go" }], steps] });
    const [a, b] = [await scene.client.session("/a").create(), await scene.client.session("/b").create()];
    const ofB = readAll(b.prompt("go"));
    await scene.agent.receivedMethod("session/prompt");
    expect(await readAll(a.prompt("go"))).toEqual(["turn a1", "turn a2", "turn a3", "turn a4"]);
    await scene.client.notify("_go");
    expect(await ofB).toEqual(["turn b1", "turn b2", "turn b3"]);
  });

  it("get their own messages if they start at the same time", async () => {
    await using scene = await openScene(
      { on: { "session/new": { steps: [{ say: "hello" }, read] } } },
      { serve: { readTextFile: () => ({ content: "client's" }) } },
    );
    const starts = ["a", "b", "c"].map((name) =>
      scene.client
        .session(`/${name}`)
        .serve({ readTextFile: () => ({ content: name }) })
        .create(),
    );
    const sessions = await Promise.all(starts);
    expect(sessions.map(({ id }) => id)).toEqual(["session-1", "session-2", "session-3"]);
    expect(scene.answers()).toEqual([{ content: "a" }, { content: "b" }, { content: "c" }]);
    for (const session of sessions) expect(describeItems(session.take())[0]).toBe("between hello");
  });

  it("do not get late messages of a disposed session", async () => {
    const strays: unknown[] = [];
    const late: AcpStep = { in: { session: "session-1", steps: [{ say: "late" }, read] } };
    await using scene = await openScene(
      { on: { "session/new": [{}, { steps: [late] }] } },
      { onStray: ({ params }) => strays.push(params), serve: { readTextFile: () => ({ content: "secret" }) } },
    );
    const left = await scene.client.session("/project").create();
    await left[Symbol.asyncDispose]();
    const session = await scene.client.session("/project").create();
    expect(session.take()).toEqual([]);
    expect(strays.slice(0, 1)).toMatchObject([{ sessionId: "session-1" }]);
    expect(scene.answers()).toMatchObject([{ code: -32002 }]);
  });
});

describe("an update", () => {
  it("is reported as stray if nobody has the session", async () => {
    const strays: unknown[] = [];
    await using scene = await openScene(
      { prompts: [[{ in: { session: "nobody", steps: [{ say: "boo" }] } }, { say: "hi" }]] },
      { onStray: ({ params }) => strays.push(params) },
    );
    const session = await scene.client.session("/project").create();
    expect(await readAll(session.prompt("go"))).toEqual(["turn hi"]);
    expect(strays).toMatchObject([{ sessionId: "nobody" }]);
  });

  it.each([
    ["no params", undefined],
    ["params that are not an object", "session-1"],
    ["no session", { update: { sessionUpdate: "plan" } }],
    ["a session id that is not a string", { sessionId: 1, update: { sessionUpdate: "plan" } }],
    ["no update", { sessionId: "session-1" }],
    ["null for an update", { sessionId: "session-1", update: null }],
    ["a text for an update", { sessionId: "session-1", update: "plan" }],
  ])("with %s is reported as stray, and the turn continues", async (_what, params) => {
    const strays: unknown[] = [];
    await using scene = await openScene(
      { prompts: [[{ notify: { method: "session/update", params } }, { say: "hi" }]] },
      { onStray: (notification) => strays.push(notification.params) },
    );
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("go").readText()).toBe("hi");
    expect(strays).toEqual([params]);
  });

  it.each([
    ["of an unknown kind", { sessionUpdate: "weather_update", sky: { clear: true } }],
    ["of no kind", { what: "?" }],
    ["of text without content", { sessionUpdate: "agent_message_chunk" }],
    ["of text that is null", { sessionUpdate: "agent_message_chunk", content: null }],
  ])("%s is delivered as it came", async (_what, update) => {
    const params = { sessionId: "session-1", update, _meta: { own: 1 } };
    await using scene = await openScene({
      otherwise: [{ notify: { method: "session/update", params } }, { say: "hi" }],
    });
    const session = await scene.client.session("/project").create();
    for await (const item of session.prompt("go")) {
      if (item.kind !== "update") throw new Error("there are only updates");
      expect(item.notification).toEqual(params);
      expect(JSON.parse(item.line)).toEqual({ jsonrpc: "2.0", method: "session/update", params });
      break;
    }
    await session.idle();
    expect(await session.prompt("again").readText()).toBe("hi");
  });
});

const REQUESTS: [method: string, good: Record<string, unknown>, bad: Record<string, unknown>][] = [
  ["session/request_permission", { toolCall: { toolCallId: "1" }, options: [], own: 1 }, { toolCall: "1" }],
  ["fs/read_text_file", { path: "/a", own: 1 }, { path: 1 }],
  ["fs/write_text_file", { path: "/a", content: "x", own: 1 }, { path: "/a" }],
  ["terminal/create", { command: "ls", own: 1 }, {}],
  ["terminal/output", { terminalId: "t", own: 1 }, { terminalId: null }],
  ["terminal/wait_for_exit", { terminalId: "t", own: 1 }, {}],
  ["terminal/kill", { terminalId: "t", own: 1 }, {}],
  ["terminal/release", { terminalId: "t", own: 1 }, {}],
  ["elicitation/create", { mode: "form", message: "?", own: 1 }, { mode: "form" }],
];

const EXTENSION: (typeof REQUESTS)[number] = ["_own/thing", { a: 1 }, {}];

/** Answers every request with the name of the handler and the params. */
function echoing(name: string): SessionOptions {
  const answer = (what: string) => (params: object, context: { sessionId: string | undefined }) =>
    ({ name, what, params, session: context.sessionId }) as never;
  return {
    permission: answer("permission"),
    readTextFile: answer("readTextFile"),
    writeTextFile: answer("writeTextFile"),
    terminal: {
      create: answer("create"),
      output: answer("output"),
      waitForExit: answer("waitForExit"),
      kill: answer("kill"),
      release: answer("release"),
    },
    elicitation: answer("elicitation"),
    request: ({ method, params }, { sessionId }) => ({ name, what: method, params, session: sessionId }),
  };
}

describe("a request", () => {
  it.each([...REQUESTS, EXTENSION])(
    "of %s goes to its session's handler with all of its params",
    async (method, params) => {
      await using scene = await openScene(
        { otherwise: [{ request: { method, params } }] },
        { serve: echoing("client") },
      );
      await scene.client.session("/a").create();
      const own = await scene.client.session("/b").serve(echoing("session")).create();
      await own.prompt("go").finish();
      expect(scene.answers()).toEqual([
        {
          name: "session",
          what: expect.any(String),
          session: "session-2",
          params: { sessionId: "session-2", ...params },
        },
      ]);
    },
  );

  it.each([...REQUESTS.map(([method]) => method), "_own/thing"])(
    "of %s is refused if nobody serves it",
    async (method) => {
      await using scene = await openScene({ otherwise: [{ request: { method } }] });
      const session = await scene.client.session("/project").create();
      await session.prompt("go").finish();
      expect(scene.answers()).toMatchObject([{ code: -32601, data: { method } }]);
    },
  );

  it.each(REQUESTS)("of %s is refused if its params are incomplete", async (method, _good, bad) => {
    await using scene = await openScene({ otherwise: [{ request: { method, params: bad } }] }, { serve: echoing("c") });
    const session = await scene.client.session("/project").create();
    await session.prompt("go").finish();
    expect(scene.answers()).toMatchObject([{ code: -32602, message: expect.stringContaining(method) }]);
  });

  it.each(REQUESTS)("of %s is refused if its session is not open", async (method, params) => {
    const asked = { ...params, sessionId: "nobody" };
    await using scene = await openScene(
      { otherwise: [{ request: { method, params: asked } }] },
      { serve: echoing("c") },
    );
    const session = await scene.client.session("/project").create();
    await session.prompt("go").finish();
    expect(scene.answers()).toMatchObject([{ code: -32002, message: "session nobody was not found" }]);
  });

  it.each([
    ["session/request_permission", -32602],
    ["fs/read_text_file", -32602],
    ["terminal/create", -32602],
    ["_own/thing", undefined],
    ["elicitation/create", undefined],
  ])("of %s without a session goes to the client's handlers if the method allows that", async (method, code) => {
    const good = REQUESTS.find(([name]) => name === method)?.[1] ?? {};
    const params = { ...good, sessionId: null };
    await using scene = await openScene({ otherwise: [{ request: { method, params } }] }, { serve: echoing("client") });
    const session = await scene.client.session("/project").serve(echoing("session")).create();
    await session.prompt("go").finish();
    expect(scene.answers()).toMatchObject([code === undefined ? { name: "client" } : { code }]);
  });

  it("is refused with the handler's own error, and the connection continues", async () => {
    await using scene = await openScene(
      { otherwise: [read, { say: "on" }] },
      { serve: { readTextFile: () => Promise.reject(peerError(-32002, "gone", { path: 1 })) } },
    );
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("go").readText()).toMatch(/"code":-32002,"message":"gone","data":\{"path":1\}\}on$/);
  });

  it("is passed to the reader in order if it has no handler", async () => {
    const ask = JSON.stringify({ jsonrpc: "2.0", id: "q", method: "_own/ask", params: { sessionId: "session-1" } });
    await using scene = await openScene(
      { otherwise: [{ write: `${updateLine("one")}${ask}\n${updateLine("two")}` }, { waitForMessage: "_go" }] },
      { serve: { unhandled: "read" } },
    );
    const session = await scene.client.session("/project").create();
    const seen: string[] = [];
    for await (const item of session.prompt("go")) {
      seen.push(...describeItems([item]));
      if (item.kind === "request") item.respond({ told: item.request.params });
      if (seen.length === 3) await scene.client.notify("_go");
    }
    expect(seen).toEqual(["turn one", "asks _own/ask", "turn two"]);
    expect(scene.answers()).toEqual([{ told: { sessionId: "session-1" } }]);
  });

  it.each([["readText"], ["finish"]] as const)(
    "without a handler is refused by %s, which reads no requests",
    async (how) => {
      await using scene = await openScene(
        { otherwise: [read] },
        { serve: { unhandled: "read" }, capabilities: { fs: { readTextFile: true } } },
      );
      const session = await scene.client.session("/project").create();
      await session.prompt("go")[how]();
      expect(scene.answers()).toMatchObject([{ code: -32601 }]);
    },
  );

  it("calls handlers with their own object as `this`", async () => {
    class Files {
      readonly #text = "mine";
      readTextFile(): { content: string } {
        return { content: this.#text };
      }
    }
    await using scene = await openScene({ otherwise: [read] }, { serve: new Files() });
    const plain = await scene.client.session("/project").create();
    await plain.prompt("go").finish();
    const layered = await scene.client
      .session("/project")
      .serve({ permission: () => allow })
      .create();
    await layered.prompt("go").finish();
    expect(scene.answers()).toEqual([{ content: "mine" }, { content: "mine" }]);
  });
});

describe("a notification", () => {
  it("of an extension goes to its session or to the client", async () => {
    const received: string[] = [];
    const hears = (name: string): SessionOptions => ({
      notification: ({ method }) => void received.push(`${name} ${method}`),
    });
    const note = (method: string, params?: object): AcpStep => ({ notify: { method, params } });
    await using scene = await openScene(
      { otherwise: [note("_a", { sessionId: "session-1" }), note("_b", { sessionId: "nobody" }), note("_c")] },
      { serve: hears("client") },
    );
    const session = await scene.client.session("/project").serve(hears("session")).create();
    await session.prompt("go").finish();
    expect(received).toEqual(["session _a", "client _b", "client _c"]);
  });

  it("is handled before the next one, without blocking other messages", async () => {
    const received: string[] = [];
    const gate = deferred();
    const notification = async ({ method }: { method: string }): Promise<void> => {
      if (method === "_slow") await gate.promise;
      received.push(method);
    };
    const note = (method: string): AcpStep => ({ notify: { method } });
    await using scene = await openScene(
      {
        prompts: [
          [note("_slow"), note("_next"), { say: "one" }],
          [{ flood: { count: 200, padding: "x".repeat(64 * 1024) } }],
        ],
      },
      { serve: { notification } },
    );
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("go").readText()).toBe("one");
    expect(received).toEqual([]);
    session.prompt("go");
    await stalled(scene);
    expect(scene.taken()).toBeLessThan(4 * 1024 * 1024);
    gate.resolve();
    await expect.poll(() => received).toEqual(["_slow", "_next"]);
  });

  it("breaks only its session if the handler throws", async () => {
    const bad = new Error("bad handler");
    const throwing: SessionOptions = { notification: () => Promise.reject(bad) };
    await using scene = await openScene({
      prompts: [[{ notify: { method: "_a", params: { sessionId: "session-1" } } }, { waitForCancel: true }]],
      otherwise: [{ say: "fine" }],
    });
    const broken = await scene.client.session("/project").serve(throwing).create();
    const other = await scene.client.session("/project").create();
    expect(await getRejection(broken.prompt("go").finish())).toBe(bad);
    expect(() => broken.prompt("go")).toThrow(bad);
    expect(await other.prompt("go").readText()).toBe("fine");
  });

  it("closes the connection if the client's handler throws", async () => {
    const bad = new Error("bad handler");
    await using scene = await openScene(
      { otherwise: [{ notify: { method: "_a" } }, { waitForCancel: true }] },
      { serve: { notification: () => Promise.reject(bad) } },
    );
    const session = await scene.client.session("/project").create();
    const error = await getRejection(session.prompt("go").finish());
    expect(error.cause).toMatchObject({ message: "a handler of notifications failed", cause: bad });
  });
});

it("routes matching messages to an extra route until it is removed", async () => {
  await using scene = await openScene({ otherwise: [{ request: { method: "mcp/message", params: { id: 1 } } }] });
  const session = await scene.client.session("/project").create();
  const remove = scene.client.addRoute({
    takes: ({ method }) => method === "mcp/message",
    request: ({ params }) => ({ routed: params }),
    notification: () => undefined,
  });
  await session.prompt("go").finish();
  remove();
  await session.prompt("go").finish();
  expect(scene.answers()).toMatchObject([{ routed: { id: 1 } }, { code: -32601 }]);
});

it("refuses prompts in a disposed session with session_closed", async () => {
  await using scene = await openScene({});
  const session = await scene.client.session("/project").create();
  await session[Symbol.asyncDispose]();
  expect(() => session.prompt("hi")).toThrow(expect.objectContaining({ code: "session_closed" }));
  expect(isRookeryError(await getRejection(session.setMode("x")), "session_closed")).toBe(true);
});
