import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { AcpScript } from "../../testing/acp-agent/index.ts";
import { settle } from "../conductor/test-line-client.ts";
import { toolServer } from "../mcp/test-tools.ts";
import { openProxied } from "./test-scene.ts";

const READ = { readFile: { path: "/project/a.txt" } };

/** Everything that the client of the scene received, as methods or "answer". */
function recordInput(): { readonly seen: string[]; readonly trace: (direction: "in" | "out", line: string) => void } {
  const seen: string[] = [];
  const trace = (direction: "in" | "out", line: string): void => {
    const { method } = JSON.parse(line) as { method?: string };
    if (direction === "in") seen.push(method ?? "answer");
  };
  return { seen, trace };
}

describe("a session of the proxy's own", () => {
  it("keeps its updates and requests from the client: before its name, in its turns, and after its end", async () => {
    const { seen, trace } = recordInput();
    const late = { in: { session: "session-1", steps: [{ say: "late" }, READ] } };
    const script: AcpScript = {
      on: { "session/new": [{ steps: [{ say: "early" }, READ], after: [{ say: "after" }] }, { after: [late] }] },
      prompts: [[{ say: "own" }, READ, { permission: {} }]],
    };
    await using scene = await openProxied(script, {}, { trace, capabilities: { fs: { readTextFile: true } } });
    const session = await scene.proxy
      .session("/project")
      .serve({ readTextFile: () => ({ content: "mine" }) })
      .create();
    const turn = session.prompt("go");
    expect(await turn.readText()).toContain("own");
    await session[Symbol.asyncDispose]();
    await scene.client.session("/project").create();
    await settle();
    expect(seen).toEqual(["answer", "answer"]); // of initialize and of session/new
    const answers = scene.agent.received.filter((message) => (message as { method?: string }).method === undefined);
    expect(answers).toMatchObject([
      { result: { content: "mine" } },
      { result: { content: "mine" } },
      { error: { code: -32_601 } },
      { error: { code: -32_002 } },
    ]);
  });

  it("is not found by the client while it is open, and can be loaded by it afterwards", async () => {
    const stored = { sessionId: "stored", cwd: "/project", history: [{ sessionUpdate: "plan", entries: [] }] };
    const { seen, trace } = recordInput();
    await using scene = await openProxied({ sessions: [stored] }, {}, { trace });
    const own = await scene.proxy.session("/project").load("stored");
    expect(own.take()).toHaveLength(1);
    await expect(scene.client.session("/project").load("stored")).rejects.toMatchObject({ code: -32_002 });
    await own[Symbol.asyncDispose]();
    const session = await scene.client.session("/project").load("stored");
    expect(session.take()).toHaveLength(1);
    expect(seen.filter((method) => method === "session/update")).toHaveLength(1);
  });

  it("is set up neither together with a session of the client nor before one that came first", async () => {
    const script: AcpScript = {
      on: { "session/new": [{ steps: [{ waitForMessage: "_go" }, { say: "theirs" }] }, {}] },
    };
    await using scene = await openProxied(script);
    const theirs = scene.client.session("/theirs").create();
    await scene.agent.receivedMethod("session/new");
    const own = scene.proxy.session("/own").create();
    const next = scene.client.session("/next").create();
    await scene.client.notify("_go");
    const sessions = await Promise.all([theirs, own, next]);
    expect(sessions.map(({ id }) => id)).toEqual(["session-1", "session-2", "session-3"]);
    expect(sessions.map((session) => session.take().length)).toEqual([1, 0, 0]);
  });

  it("has MCP servers of its own, which are closed with it", async () => {
    const server = toolServer("mine");
    await using scene = await openProxied({
      initialize: { agentCapabilities: { mcpCapabilities: { acp: true } } },
      otherwise: [{ callMcp: { server: "mine", tool: "echo", arguments: { text: "hi" } } }],
    });
    const session = await scene.proxy.session("/project").mcpServer(server).create();
    expect(await session.prompt("go").readText()).toBe("mine.echo: echo hi");
    await session.close();
    await settle();
    expect(server.live).toBe(0);
  });

  it("is cancelled while it is set up, and closed if the agent still creates it", async () => {
    await using scene = await openProxied({
      initialize: { agentCapabilities: { sessionCapabilities: { close: {} } } },
      on: { "session/new": [{ steps: [{ hang: true }] }] },
    });
    const giveUp = new AbortController();
    const starting = scene.proxy.session("/project").create({ signal: giveUp.signal });
    await scene.agent.receivedMethod("session/new");
    giveUp.abort();
    await expect(starting).rejects.toBe(giveUp.signal.reason);
    await scene.agent.receivedMethod("$/cancel_request");
    expect((await scene.client.session("/project").create()).id).toMatch(/^session-/);
  });

  it("rejects with the agent's error, and with input_invalid for a relative directory", async () => {
    await using scene = await openProxied({});
    await expect(scene.proxy.session("/project").load("nowhere")).rejects.toMatchObject({ code: -32_002 });
    expect(() => scene.proxy.session("project")).toThrow(expect.objectContaining({ code: "input_invalid" }));
    expect((await scene.proxy.session().create()).id).toBe("session-1");
  });
});

describe("attaching to a session", () => {
  it("gives the proxy what follows the forwarded response, and the client the rest in order", async () => {
    const held = deferred();
    await using scene = await openProxied(
      { on: { "session/new": { after: [{ say: "one" }, { say: "two" }] } }, prompts: [[{ say: "three" }]] },
      {
        fromClient: {
          "session/new": async (request) => {
            const response = await request.forward();
            await settle();
            const { session, proxyRemaining } = scene.proxy.attach({
              response: response.result as { sessionId: string },
            });
            expect(await session.next()).toMatchObject({ update: { content: { text: "one" } } });
            request.respond(response);
            proxyRemaining();
            held.resolve();
          },
        },
      },
    );
    const session = await scene.client.session("/project").create();
    await held.promise;
    expect(await session.next()).toMatchObject({ update: { content: { text: "two" } } });
    expect(await session.prompt("go").readText()).toBe("three");
  });

  it("holds a session of a plain request of the proxy", async () => {
    const { seen, trace } = recordInput();
    await using scene = await openProxied({ prompts: [[{ say: "hi" }]] }, {}, { trace });
    const response = await scene.proxy.agent.request<{ sessionId: string }>("session/new", {
      cwd: "/p",
      mcpServers: [],
    });
    const { session } = scene.proxy.attach({ response });
    expect(await session.prompt("go").readText()).toBe("hi");
    expect(seen).toEqual(["answer"]);
  });

  it("is refused with a code for a response without an id and for a session that the proxy drives", async () => {
    await using scene = await openProxied({});
    const own = await scene.proxy.session("/project").create();
    const attach = (response: unknown) => () => scene.proxy.attach({ response: response as { sessionId: string } });
    expect(attach(undefined)).toThrow(expect.objectContaining({ code: "input_invalid" }));
    expect(attach({ sessionId: 1 })).toThrow(expect.objectContaining({ code: "input_invalid" }));
    expect(attach({ sessionId: own.id })).toThrow(expect.objectContaining({ code: "session_in_use" }));
  });
});
