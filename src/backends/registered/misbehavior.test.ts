import { describe, expect, it } from "vitest";
import {
  RookeryError,
  type AgentConnection,
  type Backend,
  type BackendTools,
  type TurnContext,
} from "../../domain/index.ts";
import { Rookery } from "../../rookery.ts";
import { openWorld } from "../../session/test-scene.ts";
import { call, say, transcript } from "../../testing/index.ts";
import { registeredBackend } from "./registered-backend.ts";
import { createTestBackend } from "./test-backend.ts";

const AGENT = { name: "robin", backend: "mine" };

async function openWith(backend: Backend) {
  const world = await openWorld([say("fine")]);
  const rookery = world.owned.use(await Rookery.open({ ...world.options, backends: [backend] }));
  return { world, rookery };
}

function backendThat(connection: Partial<AgentConnection>): Backend {
  return createTestBackend({ connection });
}

const turnThat = (runTurn: (turn: TurnContext) => unknown): Partial<AgentConnection> => ({
  runTurn: async (turn) => (await runTurn(turn)) as never,
});

describe("a turn of a registered backend", () => {
  it.each<[string, Partial<AgentConnection>, string, string]>([
    [
      "throws",
      turnThat(() => {
        throw new TypeError("a bug");
      }),
      "agent_failed",
      "the backend mine failed in runTurn(): a bug",
    ],
    [
      "throws an error with a code",
      turnThat(() => {
        throw new RookeryError("provider_auth", "no key");
      }),
      "provider_auth",
      "no key",
    ],
    ["returns no outcome", turnThat(() => undefined), "agent_failed", "without a valid outcome"],
    ["returns an unknown outcome", turnThat(() => ({ status: "great" })), "agent_failed", "without a valid outcome"],
    ["records a value that is no event", turnThat(({ log }) => log.record("hi" as never)), "agent_failed", "no event"],
    [
      "records an invalid event",
      turnThat(({ log }) => log.record({ type: "message.delta", messageId: 7 } as never)),
      "agent_failed",
      "message.delta",
    ],
    [
      "ends the turn in the log",
      turnThat(({ log }) => log.record({ type: "turn.ended", outcome: { status: "done" } })),
      "agent_failed",
      "only the session records",
    ],
    [
      "closes the session in the log",
      turnThat(({ log }) => log.record({ type: "session.closed" })),
      "agent_failed",
      "only the session records",
    ],
    [
      "asks for an invalid permission",
      turnThat((turn) => turn.permit({} as never)),
      "agent_failed",
      "a toolId and a tool",
    ],
    ["asks an invalid question", turnThat((turn) => turn.ask(7 as never)), "agent_failed", "invalid question"],
    ["stores a text as bytes", turnThat((turn) => turn.putBlob("x" as never)), "agent_failed", "Uint8Array"],
  ])("fails if it %s, and the session continues", async (_, connection, code, message) => {
    const { world, rookery } = await openWith(backendThat(connection));
    await using scene = world;
    const session = await rookery.openSession({ agent: AGENT });
    expect(await session.prompt("hello").outcome).toMatchObject({
      status: "failed",
      code,
      message: expect.stringContaining(message) as string,
    });
    await session.change({ agent: "anthropic" });
    expect((await session.prompt("still there?").outcome).status).toBe("done");
    const types = (await scene.events(session.id)).map(({ type }) => type);
    expect(types.filter((type) => type === "turn.ended")).toHaveLength(2);
    expect(types).not.toContain("session.closed");
  });

  it("ends as cancelled if it rejects after a cancellation", async () => {
    const waiting = turnThat(async ({ signal, log }) => {
      log.record({ type: "message.delta", messageId: "m", text: "so far" });
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    });
    const { world, rookery } = await openWith(backendThat(waiting));
    await using _ = world;
    const session = await rookery.openSession({ agent: AGENT });
    const turn = session.prompt("hello");
    for await (const event of turn) if (event.type === "message.delta") void session.cancel();
    expect(await turn.outcome).toEqual({ status: "cancelled" });
  });
});

describe("opening a registered backend", () => {
  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no such service");
      },
      "no such service",
    ],
    ["returns nothing", () => undefined, "did not return a connection"],
    ["returns a connection without runTurn", () => ({ [Symbol.asyncDispose]: () => undefined }), "runTurn"],
    ["returns a connection that cannot be closed", () => ({ runTurn: () => undefined }), "asyncDispose"],
  ])("rejects with agent_unavailable if it %s, and no session exists", async (_, open, message) => {
    const { world, rookery } = await openWith({ kind: "mine", open: open as Backend["open"] });
    await using scene = world;
    await expect(rookery.openSession({ agent: AGENT })).rejects.toMatchObject({
      code: "agent_unavailable",
      message: expect.stringContaining(message) as string,
    });
    expect(await scene.store.list({})).toEqual([]);
  });

  it("stops waiting after the time limit, and closes a connection that arrives later", async () => {
    const inner = createTestBackend();
    let arrive = (): void => undefined;
    const slow: Backend = {
      kind: "mine",
      open: async (context) => {
        await new Promise<void>((resolve) => (arrive = resolve));
        return inner.open(context);
      },
    };
    const backend = registeredBackend(slow, { env: {}, timeLimits: { openMs: 20, closeMs: 20 } });
    const agent = { ...AGENT, model: undefined, permissions: undefined, prompts: [], command: undefined };
    const opening = backend.open({ sessionId: "s", agent, cwd: "/", nativeId: undefined, marker: "m" });
    await expect(opening).rejects.toMatchObject({ code: "agent_unavailable" });
    arrive();
    await new Promise((resolve) => setImmediate(resolve));
    expect(inner.closed).toBe(1);
  });

  it("does not wait longer than the time limit for a connection to close", async () => {
    const endless = { [Symbol.asyncDispose]: () => new Promise<void>(() => undefined) };
    const backend = registeredBackend(backendThat(endless), { env: {}, timeLimits: { openMs: 5_000, closeMs: 20 } });
    const agent = { ...AGENT, model: undefined, permissions: undefined, prompts: [], command: undefined };
    const connection = await backend.open({ sessionId: "s", agent, cwd: "/", nativeId: undefined, marker: "m" });
    await expect(connection[Symbol.asyncDispose]()).rejects.toMatchObject({ code: "agent_failed" });
  });
});

it("uses the tools of the session through the permission gate", async () => {
  let tools: BackendTools | undefined;
  const results: unknown[] = [];
  const inner = createTestBackend({
    connection: turnThat(async () => {
      results.push(
        tools?.list().map(({ name }) => name),
        await tools?.call("note", { text: "hi" }),
      );
      return { status: "done" };
    }),
  });
  const backend: Backend = {
    kind: "mine",
    open: async (context) => {
      tools = await context.openTools?.();
      return inner.open(context);
    },
  };
  const world = await openWorld([]);
  await using _ = world;
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  const source = {
    id: "notes",
    list: () => [{ name: "note", description: "Notes.", inputSchema, kind: "other" as const, readOnly: false }],
    describe: () => ({ title: "Note" }),
    call: () => Promise.resolve({ outcome: "ok" as const, text: "noted" }),
  };
  const plugins = [() => ({ id: "p", version: "1", sources: [source] })];
  const rookery = world.owned.use(await Rookery.open({ ...world.options, backends: [backend], plugins }));
  for (const permissions of ["all", "none"] as const) {
    const session = await rookery.openSession({ agent: AGENT, permissions });
    expect((await session.prompt("hello").outcome).status).toBe("done");
    expect(session.tools.list().map(({ name }) => name)).toContain("note");
    expect(transcript(await world.events(session.id)).join("\n")).toContain("tool Note");
  }
  expect(results).toMatchObject([["note"], { outcome: "ok", text: "noted" }, ["note"], { outcome: "denied" }]);
});

it("drives a sub-agent of the built-in agent", async () => {
  const backend = createTestBackend();
  const tasks = [{ prompt: "look around", title: "Look", agent: "robin" }];
  await using world = await openWorld([call("delegate", { tasks }), say("heard")]);
  await world.configure('[agents.robin]\nbackend = "mine"\n');
  const rookery = world.owned.use(await Rookery.open({ ...world.options, backends: [backend] }));
  const session = await rookery.openSession({ agent: "anthropic", permissions: "all" });
  expect((await session.prompt("go").outcome).status).toBe("done");
  expect(backend.received).toHaveLength(1);
  expect(backend.received[0]).toContain("look around");
  expect(JSON.stringify(world.model.requests.at(-1)?.toolResults)).toContain("re: ");
});
