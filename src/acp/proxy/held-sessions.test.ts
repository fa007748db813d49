import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { AcpScript } from "../../testing/acp-agent/index.ts";
import { settle, type Message } from "../conductor/test-line-client.ts";
import type { ClientRequestHandler, HeldSession } from "../index.ts";
import { conducted, direct, type OpenSides, type Sides } from "./test-sides.ts";

const PERMISSION = "session/request_permission";
const ALLOWED = { outcome: { outcome: "selected", optionId: "allow_once" } };
const STORED = {
  sessionId: "stored",
  cwd: "/project",
  history: ["a", "b"].map((text) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } })),
};

/** Opens a proxy with this handler. */
type Open = (script: AcpScript, handler: ClientRequestHandler, method?: string) => Sides;

const handling =
  (open: OpenSides): Open =>
  (script, handler, method = "session/new") =>
    open(script, { fromClient: { [method]: handler } });

/** The messages that the client received, abbreviated. */
function listReceived({ client }: Sides): string[] {
  return client.messages.map(({ method, params, result, error }: Message) => {
    if (method === "session/update") {
      const { update } = params as { update?: { content?: { text: string } } };
      return update?.content?.text ?? "an update";
    }
    return (
      method ?? (error === undefined ? `answer ${Object.keys(result as object).join()}` : `error ${error.message}`)
    );
  });
}

describe.each([
  ["between two transports", handling(direct)],
  ["in a conductor's chain", handling(conducted)],
])("a session that a proxy %s holds", (_, open) => {
  it("is handed over with a running prompt: the client gets its updates, the proxy its response", async () => {
    const stop = deferred<unknown>();
    await using scene = open(
      { prompts: [[{ say: "one" }, { waitForMessage: "_ext/go" }, { say: "two" }], [{ say: "three" }]] },
      async (request) => {
        const { session, proxyRemaining } = await request.startSession();
        const turn = session.prompt("warm up");
        turn.response.then(
          (response) => stop.resolve(response),
          (error: unknown) => stop.reject(error),
        );
        for await (const item of turn) if (item.kind === "update") break;
        proxyRemaining();
      },
    );
    const sessionId = await scene.client.newSession();
    scene.client.send({ method: "_ext/go" });
    expect(await stop.promise).toEqual({ stopReason: "end_turn" });
    await scene.client.answerTo(scene.client.prompt(sessionId));
    expect(listReceived(scene)).toEqual(["answer sessionId", "two", "three", "answer stopReason"]);
  });

  it("leaves the unread rest of an abandoned turn to the client", async () => {
    await using scene = open({ prompts: [[{ say: "one" }, { say: "two" }, { say: "three" }]] }, async (request) => {
      const { session, proxyRemaining } = await request.startSession();
      const turn = session.prompt("warm up");
      await turn.response;
      for await (const item of turn) if (item.kind === "update") break;
      proxyRemaining();
    });
    await scene.client.newSession();
    await settle();
    expect(listReceived(scene)).toEqual(["answer sessionId", "two", "three"]);
  });

  it("is handed over with an unread permission request, which the client answers", async () => {
    await using scene = open({ prompts: [[{ say: "one" }, { permission: {} }]] }, async (request) => {
      const { session, proxyRemaining } = await request.startSession();
      session.prompt("warm up").response.catch(() => undefined);
      await settle();
      proxyRemaining();
    });
    await scene.client.newSession();
    const { id } = await scene.client.called(PERMISSION);
    scene.client.send({ id, result: ALLOWED });
    await scene.client.first(({ params }) => JSON.stringify(params ?? "").includes("allow_once\\"), "the echo");
    expect(listReceived(scene).slice(0, 3)).toEqual(["answer sessionId", "one", PERMISSION]);
  });

  it("withdraws the permission request from the client when the proxy cancels its prompt, once", async () => {
    const cancel = deferred();
    await using scene = open({ prompts: [[{ permission: {} }]] }, async (request) => {
      const { session, proxyRemaining } = await request.startSession();
      const turn = session.prompt("warm up");
      await settle();
      proxyRemaining();
      await cancel.promise;
      await turn.cancel();
      expect(await turn.response).toEqual({ stopReason: "cancelled" });
    });
    await scene.client.newSession();
    const { id } = await scene.client.called(PERMISSION);
    cancel.resolve();
    expect(await scene.client.called("$/cancel_request")).toMatchObject({ params: { requestId: id } });
    scene.client.send({ id, result: ALLOWED });
    await settle();
    expect(scene.agent.problems).toEqual([]);
  });

  it("is handed over while a handler of the proxy answers a permission request", async () => {
    const [asked, answer] = [deferred(), deferred()];
    await using scene = open({ prompts: [[{ permission: {} }]] }, async (request) => {
      const { session, proxyRemaining } = await request.startSession({
        permission: async () => {
          asked.resolve();
          await answer.promise;
          return { outcome: { outcome: "selected", optionId: "allow_once" } };
        },
      });
      session.prompt("warm up").response.catch(() => undefined);
      await asked.promise;
      proxyRemaining();
    });
    await scene.client.newSession();
    answer.resolve();
    expect(await scene.client.called("session/update")).toMatchObject({
      params: { update: { content: { text: expect.stringContaining("allow_once") as string } } },
    });
    expect(listReceived(scene)).not.toContain(PERMISSION);
  });

  it("passes the history of a loaded session on before the response", async () => {
    const script: AcpScript = { sessions: [STORED], on: { "session/load": { after: [{ say: "after" }] } } };
    await using scene = open(
      script,
      async (request) => {
        const { proxyRemaining } = await request.startSession();
        await settle();
        proxyRemaining();
      },
      "session/load",
    );
    await scene.client.request("session/load", { sessionId: "stored", cwd: "/project", mcpServers: [] });
    await settle();
    expect(listReceived(scene)).toEqual(["a", "b", "answer ", "after"]);
  });

  it("keeps the history of a loaded session for the client although the proxy reads a turn", async () => {
    await using scene = open(
      { sessions: [STORED], prompts: [[{ say: "own" }]] },
      async (request) => {
        const { session, proxyRemaining } = await request.startSession();
        expect(await session.prompt("own").readText()).toBe("own");
        proxyRemaining();
      },
      "session/load",
    );
    await scene.client.request("session/load", { sessionId: "stored", cwd: "/project", mcpServers: [] });
    await settle();
    expect(listReceived(scene)).toEqual(["a", "b", "answer "]);
  });

  it.each(["session/resume", "session/fork"])("can be created by %s", async (method) => {
    const script: AcpScript = {
      sessions: [STORED],
      on: { [method]: { answer: { merge: { custom: 1 } }, after: [{ say: "after" }] } },
    };
    await using scene = open(
      script,
      async (request) => {
        const { session, proxyRemaining } = await request.startSession();
        expect(session.id).toBe(method === "session/fork" ? "session-1" : "stored");
        await session.next();
        proxyRemaining();
        return "of no use";
      },
      method,
    );
    const { result } = await scene.client.request(method, { sessionId: "stored", cwd: "/project" });
    expect(result).toMatchObject({ custom: 1 });
    await settle();
    expect(listReceived(scene)).toHaveLength(1);
  });

  it("passes other notifications and malformed updates on in their order", async () => {
    const odd = { method: "session/update", params: { sessionId: "session-1", update: null } };
    const after = [
      { say: "one" },
      { notify: { method: "_ext/told", params: { sessionId: "session-1" } } },
      { say: "two" },
      { notify: odd },
      { say: "three" },
    ];
    await using scene = open({ on: { "session/new": { after } } }, async (request) => {
      const { session, proxyRemaining } = await request.startSession();
      await session.next();
      await settle();
      proxyRemaining();
    });
    await scene.client.newSession();
    await settle();
    expect(listReceived(scene)).toEqual(["answer sessionId", "_ext/told", "two", "an update", "three"]);
  });

  it("keeps notifications for its own handler", async () => {
    const received: unknown[] = [];
    const after = [{ notify: { method: "_ext/told", params: { sessionId: "session-1", n: 1 } } }, { say: "one" }];
    await using scene = open({ on: { "session/new": { after } } }, async (request) => {
      const { proxyRemaining } = await request.startSession({
        notification: ({ params }) => void received.push(params),
      });
      await settle();
      proxyRemaining();
    });
    await scene.client.newSession();
    await settle();
    expect(received).toEqual([{ sessionId: "session-1", n: 1 }]);
    expect(listReceived(scene)).toEqual(["answer sessionId", "one"]);
  });

  it("sends nothing twice if it is handed over twice", async () => {
    await using scene = open({ on: { "session/new": { after: [{ say: "one" }] } } }, async (request) => {
      const held = await request.startSession();
      await settle();
      held.proxyRemaining();
      held.proxyRemaining();
    });
    await scene.client.newSession();
    await settle();
    expect(listReceived(scene)).toEqual(["answer sessionId", "one"]);
  });

  it("lets the updates of other sessions pass in order", async () => {
    const go = deferred();
    let first = true;
    await using scene = open(
      {
        on: { "session/new": [{}, { steps: [{ waitForMessage: "_ext/go" }] }] },
        prompts: [[{ say: "one" }, { permission: {} }, { say: "two" }]],
      },
      async (request) => {
        if (first) {
          first = false;
          return request.forward();
        }
        const held = await request.startSession();
        await go.promise;
        held.proxyRemaining();
        return undefined;
      },
    );
    const sessionId = await scene.client.newSession();
    const held = scene.client.ask("session/new", { cwd: "/project", mcpServers: [] });
    const prompt = scene.client.prompt(sessionId);
    const { id } = await scene.client.called(PERMISSION);
    scene.client.send({ id, result: { outcome: { outcome: "cancelled" } } });
    await scene.client.answerTo(prompt);
    expect(scene.client.text).toMatch(/^one\|.*\|two$/);
    expect(listReceived(scene).at(-1)).toBe("answer stopReason");
    scene.client.send({ method: "_ext/go" });
    go.resolve();
    expect(await scene.client.answerTo(held)).toMatchObject({ result: { sessionId: "session-2" } });
  });

  it("is set up with the client's params unchanged", async () => {
    const params = { cwd: "/project", sessionId: "stored", extra: { deep: [null] } };
    await using scene = open(
      { sessions: [STORED] },
      async (request) => (await request.startSession()).proxyRemaining(),
      "session/resume",
    );
    await scene.client.request("session/resume", params);
    expect(await scene.agent.receivedMethod("session/resume")).toEqual(params);
  });

  it("is refused with the agent's error", async () => {
    const error = { code: -32_000, message: "log in first", data: { methods: ["x"] }, extra: null };
    await using scene = open({ on: { "session/new": { answer: { error } } } }, async (request) => {
      await request.startSession();
    });
    expect((await scene.client.request("session/new", { cwd: "/project", mcpServers: [] })).error).toEqual(error);
  });

  it("is discarded if the handler fails: its turn is cancelled and its requests are refused", async () => {
    await using scene = open({ prompts: [[{ permission: {} }]], otherwise: [{ say: "next" }] }, async (request) => {
      const { session } = await request.startSession();
      session.prompt("warm up").response.catch(() => undefined);
      await settle();
      throw new Error("not today");
    });
    const { error } = await scene.client.request("session/new", { cwd: "/project", mcpServers: [] });
    expect(error?.message).toBe("not today");
    await scene.agent.receivedMethod("session/cancel");
    await settle();
    expect(listReceived(scene)).not.toContain(PERMISSION);
    // The agent is available again.
    expect(await scene.client.answerTo(scene.client.prompt("session-1"))).toMatchObject({
      result: { stopReason: "end_turn" },
    });
  });

  it("reports that the agent exited, and can still be handed over", async () => {
    const failed = deferred<unknown>();
    await using scene = open(
      { on: { "session/new": { after: [{ say: "one" }, { say: "two" }] } }, prompts: [[{ exit: { code: 0 } }]] },
      async (request) => {
        const { session, proxyRemaining } = await request.startSession();
        await session.next();
        await session.prompt("gone").response.catch((error: unknown) => failed.resolve(error));
        proxyRemaining();
      },
    );
    const { result } = await scene.client.request("session/new", { cwd: "/project", mcpServers: [] });
    expect(result).toMatchObject({ sessionId: "session-1" });
    expect(String(await failed.promise)).toMatch(/agent closed the connection/);
    await settle();
    expect(listReceived(scene)).toEqual(["answer sessionId", "two"]);
  });

  it("is handed over at once by `startProxy`, which returns its id, and nothing overtakes the response", async () => {
    const ids: unknown[] = [];
    const script: AcpScript = { on: { "session/new": { answer: { merge: { custom: 1 } }, after: [{ say: "one" }] } } };
    await using scene = open(script, async (request) => {
      ids.push(await request.startProxy());
      await settle(3);
    });
    await scene.client.newSession();
    await settle();
    expect(ids).toEqual(["session-1"]);
    expect(listReceived(scene)).toEqual(["answer sessionId,custom", "one"]);
  });
});

it("fails a held session that waits for an agent that exited", async () => {
  const failed = deferred<unknown>();
  await using scene = handling(direct)(
    { on: { "session/new": { after: [{ exit: { code: 0 } }] } } },
    async (request) => {
      const held: HeldSession = await request.startSession();
      await held.session.next().catch((error: unknown) => failed.resolve(error));
      held.proxyRemaining();
    },
  );
  await scene.client.newSession();
  expect(String(await failed.promise)).toMatch(/the agent closed the connection/);
  await scene.client.over();
});

it.each([
  [20, undefined],
  [70, /more than 64 MiB of updates are unread: read them/],
])("resolves the response of a turn with %i MiB of unread updates without hanging", async (count, failure) => {
  const outcome = deferred<unknown>();
  await using scene = handling(direct)(
    { prompts: [[{ flood: { count, padding: "x".repeat(1024 * 1024) } }]] },
    async (request) => {
      const { session } = await request.startSession();
      outcome.resolve(await session.prompt("go").response.catch((error: unknown) => error));
      throw new Error("enough");
    },
  );
  await scene.client.request("session/new", { cwd: "/project", mcpServers: [] });
  if (failure === undefined) expect(await outcome.promise).toEqual({ stopReason: "end_turn" });
  else expect(String(await outcome.promise)).toMatch(failure);
});

it("refuses to hand over a session if updates were dropped", async () => {
  await using scene = handling(direct)(
    { on: { "session/new": { after: [{ flood: { count: 70, padding: "x".repeat(1024 * 1024) } }, { say: "last" }] } } },
    async (request) => {
      const { session, proxyRemaining } = await request.startSession();
      while (session.dropped === 0) await settle(1);
      proxyRemaining();
    },
  );
  const { error } = await scene.client.request("session/new", { cwd: "/project", mcpServers: [] });
  expect(error?.message).toMatch(/unread updates of session session-1 were dropped/);
});
