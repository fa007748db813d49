import { describe, expect, it, vi } from "vitest";
import {
  NO_CAPABILITIES,
  type AgentConnection,
  type AskOptions,
  type BetweenTurnsContext,
  type TurnOutcome,
} from "../domain/index.ts";
import { deferred, DisposeStack, systemClock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { transcript } from "../testing/index.ts";
import { appendWithoutLease } from "./answer.ts";
import { createSession, reopenSession } from "./open.ts";
import { dyingAfter, LATER } from "./test-scene.ts";

const SETTINGS = { agent: "a", backend: "api", model: undefined, cwd: "/", permissions: "ask" } as const;
const DONE: TurnOutcome = { status: "done" };
const LOGIN = { message: "Log in", from: "github", url: "https://example.test/" };

/** A session whose agent exposes its between-turns context. */
async function openWithContext({ attended = true, commits = Infinity } = {}) {
  const owned = new DisposeStack();
  const store = owned.use(openMemoryStore());
  const attached = deferred<BetweenTurnsContext>();
  const turn = deferred<TurnOutcome>();
  const connection: AgentConnection = {
    resumesTurns: false,
    capabilities: NO_CAPABILITIES,
    runTurn: () => turn.promise,
    attach: (context) => attached.resolve(context),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const prepare = () => Promise.resolve({ settings: SETTINGS, connect: () => Promise.resolve(connection) });
  const opening = { store: dyingAfter(store, commits), clock: systemClock, owner: "elsewhere-test", attended };
  const session = owned.use(await createSession(opening, {}, prepare));
  return {
    store,
    session,
    turn,
    context: await attached.promise,
    /** Opens the session like another process after this one was killed. */
    reopen: async () => owned.use(await reopenSession({ ...opening, store, clock: LATER }, session.id, {}, prepare)),
    lines: async () => transcript((await store.read({ sessionId: session.id })).events).slice(1),
    asked: () =>
      vi.waitFor(async () => expect((await store.summary(session.id))?.waitingFor).not.toEqual([]), { interval: 5 }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

describe("a question between turns", () => {
  it("can be answered by any process while the session is idle", async () => {
    await using s = await openWithContext();
    const answer = s.context.ask(LOGIN);
    await s.asked();
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "idle", waitingFor: ["r1"] });
    await s.session.answer("r1", { action: "accept", content: { a: 1 } });
    expect(await answer).toEqual({ action: "accept", content: { a: 1 } });
    expect(await s.lines()).toEqual(["asks r1 Log in", "answered r1 accept"]);
    expect(s.session.state.requests).toEqual([]);
  });

  it("stays open during a turn, and neither blocks the other", async () => {
    await using s = await openWithContext();
    const answer = s.context.ask(LOGIN);
    await s.asked();
    const turn = s.session.prompt("go");
    s.turn.resolve(DONE);
    expect(await turn.outcome).toEqual(DONE);
    await s.session.answer("r1", { action: "decline" });
    expect(await answer).toMatchObject({ action: "decline" });
    expect(await s.lines()).toEqual(["asks r1 Log in", "started go", "ended done", "answered r1 decline"]);
  });

  it("counts as accepted when it becomes unnecessary", async () => {
    await using s = await openWithContext();
    const happened = deferred();
    const answer = s.context.ask(LOGIN, { completed: happened.promise });
    await s.asked();
    happened.resolve();
    expect(await answer).toEqual({ action: "accept", content: undefined });
    const { events } = await s.store.read({ sessionId: s.session.id });
    expect(events.at(-1)).toMatchObject({ type: "question.answered", action: "accept", by: "policy" });
  });

  it.each<[string, (s: Awaited<ReturnType<typeof openWithContext>>, own: AbortController) => unknown]>([
    ["the asker's signal fires", (_, own) => own.abort(new Error("too late"))],
    ["the session is released", (s) => s.session[Symbol.asyncDispose]()],
  ])("is withdrawn when %s", async (_, end) => {
    await using s = await openWithContext();
    const own = new AbortController();
    const options: AskOptions = { signal: own.signal };
    const answer = s.context.ask(LOGIN, options).catch((error: unknown) => error);
    await s.asked();
    await end(s, own);
    expect(await answer).toBeInstanceOf(Error);
    await vi.waitFor(async () => expect(await s.lines()).toEqual(["asks r1 Log in", "answered r1 cancel"]));
    await expect(s.session.answer("r1", { action: "accept" })).rejects.toMatchObject({ code: "request_resolved" });
  });

  it("is answered once, even if it becomes unnecessary after the answer", async () => {
    await using s = await openWithContext();
    const happened = deferred();
    const answer = s.context.ask(LOGIN, { completed: happened.promise });
    await s.asked();
    await s.session.answer("r1", { action: "accept" });
    await answer;
    happened.resolve();
    await happened.promise;
    await s.session[Symbol.asyncDispose]();
    expect(await s.lines()).toEqual(["asks r1 Log in", "answered r1 accept"]);
  });

  it("is withdrawn before the session is closed", async () => {
    await using s = await openWithContext();
    void s.context.ask(LOGIN).catch(() => undefined);
    await s.asked();
    await s.session.end();
    expect(await s.lines()).toEqual(["asks r1 Log in", "answered r1 cancel", "closed"]);
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "closed", waitingFor: [] });
  });

  it("rejects an answer after another process closed the session", async () => {
    await using s = await openWithContext();
    void s.context.ask(LOGIN).catch(() => undefined);
    await s.asked();
    const closing = { body: { type: "session.closed" as const }, turnId: undefined };
    await appendWithoutLease(s.store, s.session.id, systemClock, () => closing);
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "closed", waitingFor: [] });
    await expect(s.session.answer("r1", { action: "accept" })).rejects.toMatchObject({ code: "request_resolved" });
  });

  it("from a dead process is withdrawn when the session is opened again", async () => {
    await using s = await openWithContext({ commits: 2 });
    void s.context.ask(LOGIN).catch(() => undefined);
    await s.asked();
    await s.reopen();
    expect(await s.lines()).toEqual(["asks r1 Log in", "answered r1 cancel"]);
  });

  it("is declined if nobody can be asked", async () => {
    await using s = await openWithContext({ attended: false });
    expect(await s.context.ask(LOGIN)).toEqual({ action: "decline" });
  });
});

describe("a permission between turns", () => {
  const request = { toolId: "t1", tool: "sample", title: "Sample", kind: "think", readOnly: false, input: {} } as const;

  it("is requested, and a grant for the session applies to later calls", async () => {
    await using s = await openWithContext();
    const decision = s.context.permit(request);
    await s.asked();
    await s.session.answer("r1", { decision: "allow", scope: "session" });
    expect(await decision).toEqual({ allowed: true });
    expect(await s.context.permit({ ...request, toolId: "t2" })).toEqual({ allowed: true });
  });

  it("is withdrawn when the asker's signal fires", async () => {
    await using s = await openWithContext();
    const own = new AbortController();
    const decision = s.context.permit(request, { signal: own.signal }).catch((error: unknown) => error);
    await s.asked();
    own.abort(new Error("gone"));
    expect(await decision).toMatchObject({ message: "gone" });
    expect(s.session.state.requests).toEqual([]);
    expect((await s.store.summary(s.session.id))?.waitingFor).toEqual([]);
  });

  it("is denied if nobody can be asked", async () => {
    await using s = await openWithContext({ attended: false });
    expect(await s.context.permit(request)).toMatchObject({ allowed: false, outcome: "denied" });
  });
});

describe("a tool that runs between turns", () => {
  const started = { type: "tool.started", toolId: "t1", name: "x", title: "X", kind: "other", input: {} } as const;
  const ended = { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" } as const;
  const ends = async (s: Awaited<ReturnType<typeof openWithContext>>) =>
    (await s.store.read({ sessionId: s.session.id })).events.flatMap((event) =>
      event.type === "tool.ended" ? [event.outcome] : [],
    );

  it("stays open during a turn, and ends once", async () => {
    await using s = await openWithContext();
    s.context.record(started);
    s.turn.resolve(DONE);
    await s.session.prompt("go").outcome;
    expect(s.session.state.tools).toMatchObject([{ toolId: "t1" }]);
    s.context.record(ended);
    await s.session[Symbol.asyncDispose]();
    expect(await ends(s)).toEqual(["ok"]);
  });

  it("is cancelled with its session", async () => {
    await using s = await openWithContext();
    s.context.record(started);
    await s.session[Symbol.asyncDispose]();
    expect(await ends(s)).toEqual(["cancelled"]);
  });

  it("gets an unknown outcome if its process died", async () => {
    await using s = await openWithContext({ commits: 2 });
    s.context.record(started);
    await vi.waitFor(() => expect(s.session.state.tools).toHaveLength(1));
    await s.reopen();
    expect(await ends(s)).toEqual(["unknown"]);
  });
});

it("records events between turns, and ignores them after the session is released", async () => {
  await using s = await openWithContext();
  s.context.record({ type: "mcp.status", server: "github", status: "ready" });
  await s.session[Symbol.asyncDispose]();
  s.context.record({ type: "mcp.status", server: "github", status: "gone" });
  const { events } = await s.store.read({ sessionId: s.session.id });
  expect(events.flatMap((event) => (event.type === "mcp.status" ? [event.status] : []))).toEqual(["ready"]);
});
