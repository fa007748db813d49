import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { AcpScript } from "../../testing/acp-agent/index.ts";
import { settle } from "../conductor/test-line-client.ts";
import type { ClientRequest, ClientRequestHandler, SessionChanges } from "../index.ts";
import { toolServer } from "../mcp/test-tools.ts";
import { conducted, direct } from "./test-sides.ts";

const NEW = { cwd: "/project", mcpServers: [] };
const STORED = { sessionId: "stored", cwd: "/project", history: [] };
const OVER_ACP: AcpScript = {
  initialize: { agentCapabilities: { mcpCapabilities: { acp: true } } },
  sessions: [STORED],
};
const call = (server: string) => ({ callMcp: { server, tool: "echo", arguments: { text: "hi" } } });

/** The two ways to set a session up from a request. */
const WAYS: readonly [string, (request: ClientRequest, changes: SessionChanges) => Promise<unknown>][] = [
  ["startProxy", (request, changes) => request.startProxy(changes)],
  ["startSession", async (request, changes) => (await request.startSession(changes)).proxyRemaining()],
];

describe.each([
  ["between two transports", direct],
  ["in a conductor's chain", conducted],
])("a proxy %s", (_, open) => {
  describe.each(WAYS)("with %s", (_name, start) => {
    it.each(["session/new", "session/load", "session/resume", "session/fork"])(
      "changes the params of %s before they are sent, and keeps the other fields of the message",
      async (method) => {
        const handler: ClientRequestHandler = (request) =>
          start(request, { params: { ...(request.params as object), cwd: "/other", _meta: { by: "proxy" } } });
        await using scene = open({ sessions: [STORED] }, { fromClient: { [method]: handler } });
        const { result } = await scene.client.request(method, { ...NEW, sessionId: "stored", extra: [null] });
        expect(result).toBeDefined();
        expect(await scene.agent.receivedMethod(method)).toEqual({
          ...NEW,
          sessionId: "stored",
          extra: [null],
          cwd: "/other",
          _meta: { by: "proxy" },
        });
      },
    );

    it("gives one session an MCP server of its own, which is closed with the session", async () => {
      const [all, mine] = [toolServer("all"), toolServer("mine")];
      const handler: ClientRequestHandler = (request) =>
        (request.params as { cwd: string }).cwd === "/mine"
          ? start(request, { mcpServers: [mine] })
          : request.forward();
      await using scene = open(
        { ...OVER_ACP, otherwise: [call("all"), call("mine")] },
        { mcpServers: [all], fromClient: { "session/new": handler } },
      );
      await scene.client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
      const own = await scene.client.newSession({ cwd: "/mine" });
      await scene.client.newSession();
      const offered = scene.agent.received.flatMap((message) => {
        const { method, params } = message as { method?: string; params?: { mcpServers: { name: string }[] } };
        return method === "session/new" ? [params?.mcpServers.map(({ name }) => name)] : [];
      });
      expect(offered).toEqual([["all", "mine"], ["all"]]);
      await scene.client.answerTo(scene.client.prompt(own));
      expect(scene.client.text).toBe("all.echo: echo hi|mine.echo: echo hi");
      await scene.client.request("session/close", { sessionId: own });
      await settle();
      expect(mine.live).toBe(0);
    });

    it.each([
      ["params that are no object", { params: 7 }, /must be an object/],
      ["servers that are no list", { mcpServers: {} }, /must be a list/],
      ["two servers with one name", { mcpServers: [toolServer("a"), toolServer("a")] }, /two MCP servers/],
    ])("fails the request for %s and lives on", async (_what, changes, message) => {
      const handler: ClientRequestHandler = (request) => start(request, changes as unknown as SessionChanges);
      await using scene = open(OVER_ACP, { fromClient: { "session/new": handler } });
      const { error } = await scene.client.request("session/new", NEW);
      expect(error).toMatchObject({ code: -32_603, message: expect.stringMatching(message) as string });
      expect((await scene.client.request("session/resume", { ...NEW, sessionId: "stored" })).error).toBeUndefined();
    });

    it("refuses to set a session up from a request that does not", async () => {
      const handler: ClientRequestHandler = (request) => start(request, {});
      await using scene = open({}, { fromClient: { "session/prompt": handler } });
      const { error } = await scene.client.answerTo(scene.client.prompt(await scene.client.newSession()));
      expect(error).toMatchObject({ code: -32_603, data: { code: "input_invalid" } });
    });

    it("cancels the setup hop by hop", async () => {
      const handler: ClientRequestHandler = (request) => start(request, { mcpServers: [toolServer("mine")] });
      await using scene = open(
        { on: { "session/new": { steps: [{ waitForCancel: true }] } } },
        { fromClient: { "session/new": handler } },
      );
      const id = scene.client.ask("session/new", NEW);
      await scene.agent.receivedMethod("session/new");
      scene.client.send({ method: "$/cancel_request", params: { requestId: id } });
      expect(await scene.client.answerTo(id)).toMatchObject({ error: { code: -32_800 } });
    });
  });

  it("does not let a slow setup delay others, before or after the agent answers", async () => {
    const [before, after] = [deferred(), deferred()];
    const handler: ClientRequestHandler = async (request) => {
      const { cwd } = request.params as { cwd: string };
      if (cwd === "/before") await before.promise;
      const response = await request.forward();
      if (cwd === "/after") await after.promise;
      return response;
    };
    const script: AcpScript = { on: { "session/new": { after: [{ say: "hello" }] } } };
    await using scene = open(script, { fromClient: { "session/new": handler } });
    const [slow, late] = ["/before", "/after"].map((cwd) => scene.client.ask("session/new", { ...NEW, cwd }));
    await scene.agent.receivedMethod("session/new");
    expect(await scene.client.newSession()).toBe("session-2");
    await scene.client.called("session/update");
    expect(
      scene.client.messages.map(({ params }) => (params as { sessionId?: string } | undefined)?.sessionId),
    ).toEqual([undefined, "session-2"]);
    before.resolve();
    expect(await scene.client.answerTo(slow ?? "")).toMatchObject({ result: { sessionId: "session-3" } });
    after.resolve();
    expect(await scene.client.answerTo(late ?? "")).toMatchObject({ result: { sessionId: "session-1" } });
    await settle();
    const first = scene.client.messages.filter((message) => JSON.stringify(message).includes('"session-1"'));
    expect(first.map(({ method }) => method ?? "answer")).toEqual(["answer", "session/update"]);
  });

  it("answers a cancelled request although its handler hangs, and sends what waited for it", async () => {
    await using scene = open(
      { otherwise: [{ say: "hi" }] },
      { fromClient: { "session/set_mode": () => new Promise(() => undefined) } },
    );
    const sessionId = await scene.client.newSession();
    const hanging = scene.client.ask("session/set_mode", { sessionId, modeId: "m" });
    const prompt = scene.client.prompt(sessionId);
    scene.client.send({ method: "$/cancel_request", params: { requestId: hanging } });
    expect(await scene.client.answerTo(hanging)).toMatchObject({ error: { code: -32_800 } });
    expect(await scene.client.answerTo(prompt)).toMatchObject({ result: { stopReason: "end_turn" } });
  });
});
