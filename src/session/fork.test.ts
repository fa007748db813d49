import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newId, type Append, type EventBody, type EventOf, type SessionEvent, type Store } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { call, collect, say, transcript } from "../testing/index.ts";
import { LATER, dyingAfter, openScene, openWorld } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

const lines = async ({ events }: Pick<Scene, "events">, id: string) => transcript(await events(id));

/** Writes to a log like the process that drives the session. */
async function append(store: Store, sessionId: string, ...bodies: EventBody[]): Promise<void> {
  const summary = await store.summary(sessionId);
  const events = bodies.map((body) => ({
    at: "2026-01-02T03:04:05.678Z",
    agent: summary?.agent ?? "anthropic",
    turnId: "trn_1",
    ...body,
  }));
  await store.append({ sessionId, id: newId("app"), expectedHead: summary?.head ?? 0, events });
}

const OPENED: EventBody = { type: "session.opened", cwd: "/", backend: "api", permissions: "ask", model: "a/b" };
const STARTED: EventBody = { type: "turn.started", input: [{ type: "text", text: "go" }] };
const ENDED: EventBody = { type: "turn.ended", outcome: { status: "done" } };

describe("a fork", () => {
  it("continues the conversation and leaves the source unchanged", async () => {
    await using s = await openScene([call("bash", { command: "echo hi" }), say("one"), say("two"), say("three")], {
      permissions: "all",
      model: "anthropic/claude-x",
      title: "Work",
    });
    await s.session.prompt("first").outcome;
    const before = await s.events(s.session.id);
    const id = await s.rookery.forkSession(s.session.id); // while it is open
    const fork = await s.rookery.openSession({ id });
    expect(fork.state).toMatchObject({
      agent: "anthropic",
      backend: "api",
      model: "anthropic/claude-x",
      permissions: "all",
      cwd: s.session.state.cwd,
      parent: s.session.id,
      title: "Work",
      turns: 1,
    });
    expect(transcript(await collect(fork.prompt("second")))).toEqual(["started second", "says two", "ended done"]);
    const asked = s.model.requests.at(-1)!.messages.map(({ role, text }) => `${role} ${text}`);
    expect(asked).toEqual(["user first", "assistant ", "user ", "assistant one", "user second"]);
    expect(await lines(s, id)).toEqual([
      "opened anthropic",
      "started first",
      "tool bash: echo hi",
      "tool ok",
      "says one",
      "ended done",
      "opened anthropic",
      "started second",
      "says two",
      "ended done",
    ]);

    expect(await s.events(s.session.id)).toEqual(before);
    await s.session.prompt("other").outcome;
    expect(s.model.requests.at(-1)!.messages.map(({ text }) => text)).not.toContain("second");
    expect(await s.store.list({ parent: s.session.id })).toMatchObject([{ id, title: "Work", status: "idle" }]);
  });

  it("through an earlier event has only the turns that ended by then, and no session of the program", async () => {
    await using s = await openScene([]);
    const id = newId("ses");
    await append(s.store, id, OPENED, STARTED, { type: "agent.connected", nativeId: "n1", how: "new" }, ENDED); // 4
    await append(s.store, id, STARTED, ENDED); // 6
    const opened = async (fork: string) => (await s.events(fork)).at(-1) as EventOf<"session.opened">;
    const turns = async (through: number) => {
      const fork = await s.rookery.forkSession(id, { through });
      return [(await s.store.summary(fork))?.turns, (await opened(fork)).forkOf];
    };
    expect(await turns(3)).toEqual([0, undefined]);
    expect(await turns(4)).toEqual([1, undefined]);
    expect(await turns(5)).toEqual([1, undefined]);
    expect(await turns(6)).toEqual([2, "n1"]);
    expect(await turns(99)).toEqual([2, "n1"]);
    await expect(s.rookery.forkSession(id, { through: -1 })).rejects.toMatchObject({ code: "input_invalid" });
  });

  it("of a replaced conversation starts with the replacement", async () => {
    await using s = await openScene([say("one"), say("two")]);
    await s.session.prompt("first").outcome;
    await s.session.replaceConversation([{ role: "user", text: "the other" }]);
    const fork = await s.rookery.openSession({ id: await s.rookery.forkSession(s.session.id) });
    await fork.prompt("second").outcome;
    expect(JSON.stringify(s.model.requests.at(-1)!.messages)).not.toContain("first");
    expect(JSON.stringify(s.model.requests.at(-1)!.messages)).toContain("the other");
  });

  it("copies the budget of the session but not that of its task", async () => {
    await using s = await openScene([say("one")], { budget: { steps: 5 } });
    await append(s.store, s.session.id, { type: "budget.set", of: "task", budget: { steps: 1 } });
    await s.session.prompt("first").outcome;
    const fork = await s.rookery.openSession({ id: await s.rookery.forkSession(s.session.id) });
    expect(fork.state.budgets).toMatchObject({ session: { steps: 5 }, task: undefined });
  });

  it("omits the running turn and later events", async () => {
    await using s = await openScene([say("one"), call("bash", { command: "true" }), say("late"), say("two")]);
    await s.session.prompt("first").outcome;
    let id = "";
    for await (const event of s.session.prompt("second")) {
      if (event.type !== "permission.requested") continue;
      await s.session.queue("third");
      id = await s.rookery.forkSession(s.session.id);
      await s.session.answer("r1", { decision: "deny" });
    }
    expect(await lines(s, id)).toEqual([
      "opened anthropic",
      "started first",
      "says one",
      "ended done",
      "opened anthropic",
    ]);
    await s.session.idle();
    const fork = await s.rookery.openSession({ id });
    expect(fork.state.queue).toEqual([]);
    expect(fork.resumed).toBeUndefined();
  });

  it("of a session without turns is empty, and of a closed session is open", async () => {
    await using s = await openScene([say("one")]);
    expect(await lines(s, await s.rookery.forkSession(s.session.id))).toEqual(["opened anthropic", "opened anthropic"]);
    await s.session.prompt("first").outcome;
    await s.session.end();
    const fork = await s.rookery.openSession({ id: await s.rookery.forkSession(s.session.id) });
    expect(fork.state).toMatchObject({ closed: false, turns: 1 });
  });

  it("can have another working directory and title", async () => {
    await using s = await openScene([say("one")]);
    const cwd = join(s.session.state.cwd, "elsewhere");
    await expect(s.rookery.forkSession(s.session.id, { cwd })).rejects.toMatchObject({ code: "cwd_missing" });
    await mkdir(cwd);
    const id = await s.rookery.forkSession(s.session.id, { cwd: "elsewhere", title: "Other" });
    expect(await s.store.summary(id)).toMatchObject({ cwd, title: "Other", parent: s.session.id });
  });

  it("of a missing session rejects with session_not_found", async () => {
    await using s = await openScene([]);
    await expect(s.rookery.forkSession("ses_none")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("does not copy the program's session ID, grants, costs or queued input", async () => {
    await using s = await openScene([]);
    await append(
      s.store,
      s.session.id,
      STARTED,
      { type: "agent.connected", nativeId: "n1", how: "new" },
      {
        type: "permission.requested",
        requestId: "r1",
        toolId: "t",
        tool: "bash",
        title: "",
        kind: "execute",
        input: 1,
      },
      {
        type: "permission.resolved",
        requestId: "r1",
        decision: "allow",
        scope: "session",
        by: "person",
        prefix: "npm test",
      },
      { type: "usage.reported", inputTokens: 5, outputTokens: 5 },
      { type: "input.queued", inputId: "i1", input: [{ type: "text", text: "later" }] },
      { type: "context.compacted", summary: "so far", throughSeq: 5 },
      ENDED,
    );
    const id = await s.rookery.forkSession(s.session.id);
    const fork = await s.rookery.openSession({ id });
    await fork.idle();
    expect(fork.state).toMatchObject({
      turns: 1,
      nativeId: undefined,
      grants: [],
      commandGrants: [],
      queue: [],
      usage: { inputTokens: 0 },
      requestCount: 1,
    });
    const copied = await s.events(id);
    const compacted = copied.find((event): event is EventOf<"context.compacted"> => event.type === "context.compacted");
    expect(copied.find(({ type }) => type === "permission.resolved")).not.toHaveProperty("prefix");
    expect(copied[compacted!.throughSeq - 1]?.type).toBe("permission.resolved"); // like number 5 in the source
  });

  it("has the current settings of the source, regardless of earlier agents", async () => {
    await using s = await openScene([]);
    const id = newId("ses");
    await append(s.store, id, OPENED, STARTED, ENDED, { type: "agent.switched", from: "anthropic", to: "b" }, STARTED);
    await append(s.store, id, ENDED, { type: "agent.switched", from: "b", to: "c" });
    await append(s.store, id, { ...OPENED, backend: "acp", permissions: "read", reopened: true });
    expect(await s.store.summary(await s.rookery.forkSession(id))).toMatchObject({ agent: "c", backend: "acp" });
  });
});

describe("a long log", () => {
  it("is copied completely in pages", async () => {
    await using w = await openWorld([]);
    const parent = newId("ses");
    const deltas = Array.from({ length: 3_500 }, (_, n): EventBody => ({ type: "output.text", text: `${n}` }));
    await append(w.store, parent, OPENED, STARTED, ...deltas, ENDED, { type: "output.text", text: "after" });
    const sizes: number[] = [];
    const watched = watching(w.store, (made) => sizes.push(made.events.length));
    const id = await (await w.open(systemClock, watched)).forkSession(parent);
    expect({ largest: Math.max(...sizes), total: sizes.reduce((sum, size) => sum + size) }).toEqual({
      largest: 250, // more would block the event loop for too long
      total: 3_504,
    });
    const bare = (events: readonly SessionEvent[]) => events.map(({ sessionId: _, ...event }) => event);
    expect(bare(await w.events(id)).slice(1, -1)).toEqual(bare(await w.events(parent)).slice(1, -1));
  });
});

describe("a process that dies during a copy", () => {
  it("leaves a session that is not listed and cannot be opened, and the next fork deletes it", async () => {
    await using w = await openWorld([]);
    const parent = newId("ses");
    const deltas = Array.from({ length: 2_500 }, (_, n): EventBody => ({ type: "output.text", text: `${n}` }));
    await append(w.store, parent, OPENED, STARTED, ...deltas, ENDED);
    const listed = async () => (await w.store.list()).map(({ id }) => id);
    const halves = () => w.store.list({ status: "copying" });
    for (let commits = 0; ; commits += 1) {
      const dying = await w.open(systemClock, dyingAfter(w.store, commits));
      const forked = await dying.forkSession(parent).catch(() => undefined);
      if (forked !== undefined) break;
      expect(await listed()).toEqual([parent]);
      const left = await halves();
      expect(left).toHaveLength(commits === 0 ? 0 : 1);
      const next = await w.open(LATER);
      for (const { id } of left) {
        await expect(next.openSession({ id })).rejects.toMatchObject({ code: "session_not_found" });
        await expect(next.forkSession(id)).rejects.toMatchObject({ code: "session_not_found" });
      }
      const whole = await next.forkSession(parent);
      expect(await halves()).toEqual([]);
      expect((await w.store.summary(whole))?.head).toBe(2_504);
      await next.deleteSession(whole);
    }
    expect(await halves()).toEqual([]);
    expect(await listed()).toHaveLength(2);
  });

  it("is distinguished from one that is still copying", async () => {
    await using w = await openWorld([]);
    const parent = newId("ses");
    await append(w.store, parent, OPENED, STARTED, ENDED);
    const other = await w.open();
    const inner: string[] = [];
    const watched = watching(w.store, async ({ events }) => {
      if (events[0]?.type === "turn.started") inner.push(await other.forkSession(parent));
    });
    const outer = await (await w.open(systemClock, watched)).forkSession(parent);
    expect(inner).toHaveLength(1);
    expect(await w.store.list({ parent })).toHaveLength(2);
    expect((await w.store.summary(outer))?.status).toBe("idle");
  });
});

it("deletes a fork that cannot be completed", async () => {
  await using w = await openWorld([]);
  const parent = newId("ses");
  await append(w.store, parent, OPENED, STARTED, ENDED);
  const full = watching(w.store, ({ events }) => {
    if (events[0]?.type === "turn.started") throw new Error("full");
  });
  await expect((await w.open(systemClock, full)).forkSession(parent)).rejects.toThrow("full");
  expect(await w.store.list({ status: "copying" })).toEqual([]);
});

/** A store that calls the listener before each append. */
function watching(store: Store, told: (append: Append) => unknown): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "append") return value.bind(target) as unknown;
      return async (made: Append) => {
        await told(made);
        return target.append(made);
      };
    },
  });
}
