import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { PeerError } from "../index.ts";
import { getRejection, openScene, describeItems } from "./test-scene.ts";

const KNOWN = { sessionId: "old", cwd: "/project", history: [{ sessionUpdate: "plan", entries: [] }] };

describe("starting a session", () => {
  it.each([
    ["session/new", {}],
    ["session/load", { sessionId: "old" }],
    ["session/resume", { sessionId: "old" }],
    ["session/fork", { sessionId: "old" }],
  ] as const)("by %s sends the given servers, directories and metadata", async (method, named) => {
    await using scene = await openScene({ sessions: [KNOWN] });
    const stdio = { name: "files", command: "/bin/files", args: ["-v"], env: [{ name: "A", value: "1" }], later: [1] };
    const custom = { type: "telepathy", name: "mind", depth: { of: "thought" } };
    const builder = scene.client
      .session({ cwd: "/project", extra: { kept: 1 } })
      .mcpServer(stdio)
      .mcpServer(custom)
      .directories("/more")
      .directories("/most", "/even")
      .meta({ "x.y/z": null });
    const session = await {
      "session/new": () => builder.create(),
      "session/load": () => builder.load("old"),
      "session/resume": () => builder.resume("old"),
      "session/fork": () => builder.fork("old"),
    }[method]();
    expect(session.id).toBe("sessionId" in named && method !== "session/fork" ? "old" : "session-1");
    expect(scene.sent(method)).toEqual([
      {
        ...named,
        cwd: "/project",
        extra: { kept: 1 },
        mcpServers: [stdio, custom],
        additionalDirectories: ["/more", "/most", "/even"],
        _meta: { "x.y/z": null },
      },
    ]);
    expect(await session.prompt("hi").response.catch(() => "refused")).toBe("refused");
    expect(scene.sent("session/prompt")).toMatchObject([{ sessionId: session.id }]);
  });

  it("works several times with one builder", async () => {
    await using scene = await openScene({});
    const builder = scene.client.session("/project").mcpServer({ name: "a", command: "/a", args: [], env: [] });
    const [one, other] = await Promise.all([builder.create(), builder.create()]);
    expect([one.id, other.id]).toEqual(["session-1", "session-2"]);
    expect(scene.sent("session/new")).toHaveLength(2);
    expect(scene.sent("session/new")[0]).toEqual(scene.sent("session/new")[1]);
  });

  it("accepts an existing request with any fields", async () => {
    await using scene = await openScene({ sessions: [KNOWN] });
    const custom = { type: "telepathy", name: "mind" };
    await scene.client.session({ cwd: "/project", sessionId: "another", mcpServers: [custom] }).resume("old");
    await scene.client.session({ cwd: "/project", mcpServers: null, additionalDirectories: null }).create();
    expect(scene.sent("session/resume")).toEqual([{ cwd: "/project", sessionId: "old", mcpServers: [custom] }]);
    expect(scene.sent("session/new")).toEqual([{ cwd: "/project", mcpServers: [], additionalDirectories: null }]);
  });

  it("keeps the agent's answer, typed and as it came", async () => {
    const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }] };
    await using scene = await openScene({ modes, on: { "session/new": { answer: { merge: { own: { a: 1 } } } } } });
    const session = await scene.client.session("/project").create();
    expect(session.response.modes?.currentModeId).toBe("ask");
    expect(session.setUp?.result).toEqual({ sessionId: "session-1", modes, own: { a: 1 } });
  });

  it("accepts null as the answer to a load", async () => {
    await using scene = await openScene({ sessions: [KNOWN], on: { "session/load": { answer: { result: null } } } });
    const session = await scene.client.session("/project").load("old");
    expect(session.response).toEqual({ sessionId: "old" });
    expect(describeItems(session.take())).toEqual(["replay plan"]);
  });
});

describe("starting a session fails", () => {
  it.each(["work", "./work", "", "../work"])("if a directory is not absolute: %j", async (cwd) => {
    await using scene = await openScene({});
    expect(() => scene.client.session(cwd)).toThrow(/is not an absolute path/);
    expect(() => scene.client.session({ cwd })).toThrow(expect.objectContaining({ code: "input_invalid" }));
    expect(() => scene.client.session("/project").directories("/a", cwd)).toThrow(/is not an absolute path/);
    expect(() => scene.client.session({ cwd: "/project", additionalDirectories: [cwd] })).toThrow(
      /not an absolute path/,
    );
  });

  it.each([
    ["session/load", { loadSession: false }],
    ["session/resume", { sessionCapabilities: { resume: null } }],
    ["session/fork", { sessionCapabilities: { fork: null } }],
    ["session/list", { sessionCapabilities: { list: null } }],
    ["session/delete", { sessionCapabilities: { delete: null } }],
  ])("with %s if the agent does not offer it", async (method, agentCapabilities) => {
    await using scene = await openScene({ sessions: [KNOWN], initialize: { agentCapabilities } });
    const { client } = scene;
    const error = await getRejection(
      {
        "session/load": () => client.session("/project").load("old"),
        "session/resume": () => client.session("/project").resume("old"),
        "session/fork": () => client.session("/project").fork("old"),
        "session/list": () => client.listSessions(),
        "session/delete": () => client.deleteSession("old"),
      }[method]!(),
    );
    expect(isRookeryError(error, "backend_unsupported")).toBe(true);
    expect(error.message).toBe(`the agent does not offer ${method}`);
    expect(scene.sent(method)).toEqual([]);
  });

  it("with additional directories if the agent does not support them", async () => {
    const agentCapabilities = { sessionCapabilities: { additionalDirectories: null } };
    await using scene = await openScene({ initialize: { agentCapabilities } });
    const error = await getRejection(scene.client.session("/project").directories("/more").create());
    expect(isRookeryError(error, "backend_unsupported")).toBe(true);
    expect(error.message).toBe("the agent does not offer additional directories");
  });

  it.each([
    ["no id", {}],
    ["an empty id", { sessionId: "" }],
    ["an id that is not a string", { sessionId: 7 }],
    ["null", null],
  ])("if the agent answers with %s", async (_what, result) => {
    await using scene = await openScene({ on: { "session/new": [{ answer: { result } }] } });
    const error = await getRejection(scene.client.session("/project").create());
    expect(isRookeryError(error, "agent_failed")).toBe(true);
    expect(error.message).toBe("the agent answered session/new without a session id");
    expect((await scene.client.session("/project").create()).id).toBe("session-2");
  });

  it("if the agent answers with the id of an open session", async () => {
    await using scene = await openScene({
      otherwise: [{ say: "hi" }],
      on: { "session/new": [{}, { answer: { merge: { sessionId: "session-1" } } }] },
    });
    const session = await scene.client.session("/project").create();
    const error = await getRejection(scene.client.session("/project").create());
    expect(isRookeryError(error, "agent_failed")).toBe(true);
    expect(await session.prompt("hi").readText()).toBe("hi");
  });

  it("if the session is already open on this connection", async () => {
    await using scene = await openScene({ sessions: [KNOWN], otherwise: [{ say: "hi" }] });
    const session = await scene.client.session("/project").load("old");
    expect(isRookeryError(await getRejection(scene.client.session("/project").resume("old")), "session_in_use")).toBe(
      true,
    );
    expect(await session.prompt("hi").readText()).toBe("hi");
  });

  it.each(["session/new", "session/load"])("with the agent's complete error if it refuses %s", async (method) => {
    const error = { code: -32000, message: "log in first", data: { methods: ["a"] }, hint: "there" };
    await using scene = await openScene({ sessions: [KNOWN], on: { [method]: [{ answer: { error } }] } });
    const builder = scene.client.session("/project");
    const start = () => (method === "session/new" ? builder.create() : builder.load("old"));
    const refused = await getRejection(start());
    expect(refused).toBeInstanceOf(PeerError);
    expect((refused as PeerError).raw).toEqual(error);
    expect((await start()).response.sessionId).toBeTypeOf("string");
  });
});

describe("aborting the start of a session", () => {
  it("sends nothing if the signal has already fired", async () => {
    await using scene = await openScene({});
    const reason = new Error("never mind");
    const signal = AbortSignal.abort(reason);
    expect(await getRejection(scene.client.session("/project").create({ signal }))).toBe(reason);
    expect(scene.sent("session/new")).toEqual([]);
  });

  it.each(["session/new", "session/load"] as const)(
    "rejects immediately, although the agent continues with %s",
    async (method) => {
      await using scene = await openScene({
        sessions: [KNOWN],
        on: { [method]: [{ steps: [{ waitForMessage: "_go" }] }], "$/cancel_request": {} },
      });
      const { client, agent } = scene;
      const giveUp = new AbortController();
      const builder = client.session("/project");
      const start = (signal?: AbortSignal) =>
        method === "session/new" ? builder.create({ signal }) : builder.load("old", { signal });
      const starting = getRejection(start(giveUp.signal));
      await agent.receivedMethod(method);
      giveUp.abort();
      expect(await starting).toBe(giveUp.signal.reason);
      expect(await agent.receivedMethod("$/cancel_request")).toEqual({ requestId: 2 });
    },
  );

  it("closes the session if the agent still creates it, and drops its messages", async () => {
    const late = { jsonrpc: "2.0", id: 2, result: { sessionId: "late" } };
    const strays: unknown[] = [];
    await using scene = await openScene(
      {
        on: {
          "session/new": [
            { answer: { times: 0 } },
            {
              steps: [{ in: { session: "late", steps: [{ say: "boo" }, { readFile: { path: "/a", echo: false } }] } }],
            },
          ],
          _go: { steps: [{ send: late }] },
        },
      },
      { onStray: ({ params }) => strays.push(params), serve: { readTextFile: () => ({ content: "secret" }) } },
    );
    const { client, agent } = scene;
    const giveUp = new AbortController();
    const starting = getRejection(client.session("/project").create({ signal: giveUp.signal }));
    await agent.receivedMethod("session/new");
    giveUp.abort();
    expect(await starting).toBe(giveUp.signal.reason);
    await client.notify("_go");
    expect(await agent.receivedMethod("session/close")).toEqual({ sessionId: "late" });
    const next = await client.session("/project").create();
    expect(strays).toMatchObject([{ sessionId: "late" }]);
    expect(scene.answers()).toMatchObject([{ code: -32002 }]);
    expect(next.take()).toEqual([]);
  });

  it("does not block the next start", async () => {
    await using scene = await openScene({
      otherwise: [{ say: "hi" }],
      on: { "session/new": [{ steps: [{ hang: true }] }] },
    });
    const { client, agent } = scene;
    const giveUp = new AbortController();
    const starting = getRejection(client.session("/project").create({ signal: giveUp.signal }));
    await agent.receivedMethod("session/new");
    const next = client.session("/project").create();
    giveUp.abort();
    await starting;
    expect(await (await next).prompt("hi").readText()).toBe("hi");
  });

  it("removes it from the queue without affecting the one before it", async () => {
    await using scene = await openScene({ on: { "session/new": [{ steps: [{ waitForMessage: "_go" }] }] } });
    const { client, agent } = scene;
    const first = client.session("/project").create();
    await agent.receivedMethod("session/new");
    const giveUp = new AbortController();
    const other = client.session("/project").serve({ readTextFile: () => ({ content: "" }) }); // it waits for the first
    const second = getRejection(other.create({ signal: giveUp.signal }));
    await turn();
    giveUp.abort();
    expect(await second).toBe(giveUp.signal.reason);
    await client.notify("_go");
    expect((await first).id).toBe("session-1");
    await getRejection(client.request("_sync"));
    expect(scene.sent("session/new")).toHaveLength(1);
  });
});
