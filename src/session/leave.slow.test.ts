import { describe, expect, it } from "vitest";
import { RookeryError, newId, type Store } from "../domain/index.ts";
import type { OpenSessionOptions } from "../rookery.ts";
import { processesMarked } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { call, collect, say, transcript, type Script } from "../testing/index.ts";
import { decidePermission } from "./gate.ts";
import { loadState } from "./open.ts";
import { Recorder } from "./recorder.ts";
import { LATER, dyingAfter, openScene } from "./test-scene.ts";

/** Tests how sessions are left: closed by another process, released, or with a log that cannot be written. */

async function opened(script: Script, options: OpenSessionOptions = {}) {
  const log = breakable(openMemoryStore());
  return { ...(await openScene(script, { permissions: "all", ...options }, log.store)), log };
}

/** A store that can be switched to reject every write. */
function breakable(real: Store): { readonly store: Store; broken: RookeryError | undefined } {
  const log: { store: Store; broken: RookeryError | undefined } = { store: real, broken: undefined };
  log.store = new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown =>
        log.broken !== undefined && (name === "append" || name === "releaseLease")
          ? Promise.reject(log.broken)
          : Reflect.apply(value, target, args);
    },
  });
  return log;
}

const SLEEPING = call("bash", { command: "echo up; sleep 300" });

async function untilToolRuns(s: Awaited<ReturnType<typeof opened>>): Promise<void> {
  for await (const { event } of s.rookery.follow({ session: s.session.id })) if (event.type === "tool.updated") return;
}

describe("closing a session from another process", () => {
  it("stops a turn with a silent tool, and updates the listing", async () => {
    await using s = await opened([SLEEPING]);
    const { outcome } = s.session.prompt("go");
    await untilToolRuns(s);
    const elsewhere = await s.open();
    await elsewhere.endSession(s.session.id);
    expect(await outcome).toEqual({ status: "cancelled" });
    expect((await s.lines()).slice(-3)).toEqual(["closed", "tool cancelled", "ended cancelled"]);
    expect((await s.store.list({ status: "closed" })).map(({ id }) => id)).toEqual([s.session.id]);
  });

  it("records the close once", async () => {
    await using s = await opened([SLEEPING]);
    const { outcome } = s.session.prompt("go");
    await untilToolRuns(s);
    const elsewhere = await s.open();
    await elsewhere.endSession(s.session.id);
    await elsewhere.endSession(s.session.id);
    await outcome;
    await elsewhere.endSession(s.session.id);
    expect((await s.lines()).filter((line) => line === "closed")).toHaveLength(1);
  });

  it("makes an idle session reject prompts without recording them", async () => {
    await using s = await opened([say("one"), say("two")]);
    await s.session.prompt("one").outcome;
    const elsewhere = await s.open();
    await elsewhere.endSession(s.session.id);
    const prompted = (async () => s.session.prompt("two").outcome)(); // throws if the session has read the event already
    await expect(prompted).rejects.toMatchObject({ code: "session_closed" });
    expect((await s.lines()).at(-1)).toBe("closed");
  });

  it("lets the next opener end the turn of a killed driver before it rejects", async () => {
    await using s = await opened([SLEEPING]);
    s.session.prompt("go");
    await untilToolRuns(s);
    s.log.broken = new RookeryError("store_closed", "killed"); // later writes of the driver are lost
    await expect(s.session.cancel()).rejects.toThrow("killed");
    s.log.broken = undefined;
    const { head } = (await s.store.summary(s.session.id))!;
    const at = new Date().toISOString();
    const closed = { type: "session.closed" as const, at, agent: "anthropic" };
    await s.store.append({ sessionId: s.session.id, id: newId("app"), expectedHead: head, events: [closed] });
    const next = await s.open(LATER);
    await expect(next.openSession({ id: s.session.id })).rejects.toMatchObject({ code: "session_closed" });
    expect((await s.lines()).at(-1)).toBe("ended cancelled");
  });
});

describe("a log that cannot be written", () => {
  it("stops the turn, and the session can be opened again when the log works", async () => {
    await using s = await opened([SLEEPING, say("well")]);
    const { outcome } = s.session.prompt("go");
    await untilToolRuns(s);
    s.log.broken = new RookeryError("store_full", "full");
    await expect(s.session.end()).rejects.toMatchObject({ code: "store_full" });
    await expect(outcome).rejects.toMatchObject({ code: "store_full" });
    s.log.broken = undefined;
    const next = await s.open(LATER);
    const reopened = await next.openSession({ id: s.session.id });
    expect(await reopened.resumed!.outcome).toEqual({ status: "done", stopReason: "stop" });
    await next.close();
  });

  it("does not keep Rookery from stopping its child processes", async () => {
    await using s = await opened([call("bash", { command: "setsid sleep 300 & echo up; sleep 300" })]);
    s.session.prompt("go").outcome.catch(() => undefined);
    await untilToolRuns(s);
    const { events } = await s.store.read({ sessionId: s.session.id });
    const started = events.find((event) => event.type === "process.started")!;
    s.log.broken = new RookeryError("store_full", "full");
    await expect(s.rookery.close()).rejects.toMatchObject({ code: "store_full" });
    expect(processesMarked(started.marker)).toEqual([]);
  });

  it("stops the turn if another process took the lease", async () => {
    await using s = await opened([SLEEPING, say("well")]);
    const { outcome } = s.session.prompt("go");
    await untilToolRuns(s);
    const elsewhere = await s.open(LATER);
    const taken = await elsewhere.openSession({ id: s.session.id });
    await taken.resumed!.outcome;
    void s.session.cancel().catch(() => undefined);
    await expect(outcome).rejects.toMatchObject({ code: "lease_lost" });
    expect((await s.lines()).filter((line) => line.startsWith("ended"))).toHaveLength(1);
    await elsewhere.close();
  });
});

describe("queued input", () => {
  it("starts once if the log cannot be written, and otherwise waits for the next opener", async () => {
    const store = openMemoryStore();
    await using s = await openScene([say("two")], {}, dyingAfter(store, 2));
    await s.session.queue("two");
    await expect(s.session.idle()).rejects.toMatchObject({ code: "store_closed" });
    await s.session.idle();
    await using next = await s.open(LATER, store);
    await using reopened = await next.openSession({ id: s.session.id });
    await reopened.idle();
    expect(await s.lines()).toEqual(["opened anthropic", "queued two", "started two", "says two", "ended done"]);
  });

  it("of a killed process runs when the session is opened again", async () => {
    await using s = await opened([say("one"), say("two")]);
    await s.session.prompt("one").outcome;
    await s.session[Symbol.asyncDispose]();
    const { head } = (await s.store.summary(s.session.id))!;
    const queued = {
      type: "input.queued" as const,
      inputId: "inp_1",
      input: [{ type: "text" as const, text: "two" }],
      at: new Date().toISOString(),
      agent: "anthropic",
    };
    await s.store.append({ sessionId: s.session.id, id: newId("app"), expectedHead: head, events: [queued] });
    const reopened = await s.rookery.openSession({ id: s.session.id });
    await reopened.idle();
    expect((await s.lines()).slice(-3)).toEqual(["started two", "says two", "ended done"]);
    expect(reopened.state.queue).toEqual([]);
  });
});

describe("an open request", () => {
  it("is resolved in the log when the policy of the next opener decides it", async () => {
    await using s = await opened([call("bash", { command: "true" }), say("ok")], { permissions: "ask" });
    for await (const event of s.session.prompt("go")) if (event.type === "permission.requested") break;
    const elsewhere = await s.open(LATER);
    const reopened = await elsewhere.openSession({ id: s.session.id, permissions: "all" });
    const lines = transcript(await collect(reopened.resumed!));
    expect(lines.slice(2)).toEqual([
      "answered r1 allow once by policy",
      "tool bash: true",
      "tool ok",
      "says ok",
      "ended done",
    ]);
    await expect(elsewhere.answer(s.session.id, "r1", { decision: "deny" })).rejects.toMatchObject({
      code: "request_resolved",
    });
    await elsewhere.close();
  });

  it("has a unique ID, even if two are made at once", async () => {
    await using s = await opened([], { permissions: "ask" });
    const state = await loadState(s.store, s.session.id);
    const recorder = new Recorder({ store: s.store, state, fence: undefined, clock: { now: () => Date.now() } });
    recorder.record([{ type: "turn.started", input: [{ type: "text", text: "go" }] }], "trn_1");
    const stop = new AbortController();
    const gate = { recorder, store: s.store, turnId: "trn_1", attended: true, signal: stop.signal };
    const request = { tool: "bash", title: "bash", kind: "execute" as const, readOnly: false, input: {} };
    const both = ["a", "b"].map((toolId) => decidePermission(gate, { ...request, toolId }).catch(() => "stopped"));
    for await (const { event } of s.rookery.follow({ session: s.session.id })) {
      if (event.type === "permission.requested" && event.toolId === "b") break;
    }
    expect(recorder.state.requests.map(({ requestId, toolId }) => [requestId, toolId])).toEqual([
      ["r1", "a"],
      ["r2", "b"],
    ]);
    stop.abort();
    expect(await Promise.all(both)).toEqual(["stopped", "stopped"]);
  });
});
