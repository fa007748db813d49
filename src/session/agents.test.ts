import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { NO_CAPABILITIES, type BetweenTurnsContext, type TurnContext, type TurnOutcome } from "../domain/index.ts";
import { scriptedServer } from "../mcp/test-servers.ts";
import { deferred, DisposeStack, systemClock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { call, readAcpRecord, say, transcript, writeAcpAgent } from "../testing/index.ts";
import type { NamedChanges } from "./agent-settings.ts";
import type { PreparedAgent } from "./session-agent.ts";
import { createSession } from "./open.ts";
import { DONE, waitForStop } from "./test-scripted-session.ts";
import { openScene, openWorld } from "./test-scene.ts";

/** A session whose agents the test opens and closes. */
async function openTroupe(
  play: (agent: string, turn: TurnContext) => Promise<TurnOutcome> = () => Promise.resolve(DONE),
) {
  const owned = new DisposeStack();
  const store = owned.use(openMemoryStore());
  const seen: string[] = [];
  const contexts = new Map<string, BetweenTurnsContext>();
  const missing = new Set<string>();
  const closing = { until: Promise.resolve() };
  const connect = (agent: string) => () => {
    if (missing.has(agent)) return Promise.reject(new Error(`${agent} is not to be had`));
    seen.push(`open ${agent}`);
    return Promise.resolve({
      resumesTurns: false,
      capabilities: NO_CAPABILITIES,
      runTurn: (turn: TurnContext) => play(agent, turn),
      attach: (context: BetweenTurnsContext) => void contexts.set(agent, context),
      returned: () => Promise.resolve(void seen.push(`back ${agent}`)),
      forget: () => Promise.resolve(void seen.push(`forget ${agent}`)),
      [Symbol.asyncDispose]: () => closing.until.then(() => void seen.push(`close ${agent}`)),
    });
  };
  const prepare = (
    state: { agent: string; model: string | undefined },
    changes: NamedChanges,
  ): Promise<PreparedAgent> => {
    const { agent = state.agent || "a", model = agent === state.agent ? state.model : undefined } = changes;
    const settings = { agent, backend: "api", model, cwd: "/", permissions: "ask" as const };
    return Promise.resolve({ settings, connect: connect(agent) });
  };
  const opening = { store, clock: systemClock, owner: "1.1.troupe", attended: true };
  const session = owned.use(await createSession(opening, {}, prepare));
  return {
    store,
    session,
    seen,
    contexts,
    missing,
    closing,
    events: async () => (await store.read({ sessionId: session.id })).events,
    lines: async () => transcript((await store.read({ sessionId: session.id })).events).slice(1),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** A turn that runs until the test ends it. */
function lasting() {
  const end = deferred<TurnOutcome>();
  const cancelled = (turn: TurnContext) => waitForStop(turn).then((): TurnOutcome => ({ status: "cancelled" }));
  return {
    end: () => end.resolve(DONE),
    play: (_: string, turn: TurnContext) => Promise.race([end.promise, cancelled(turn)]),
  };
}

describe("an agent that does not drive the session", () => {
  it("keeps its connection, which a switch back reuses", async () => {
    await using t = await openTroupe();
    await t.session.change({ agent: "b" });
    await t.session.change({ agent: "a" });
    await t.session.change({ agent: "b" });
    expect(t.seen).toEqual(["open a", "open b", "back a", "back b"]);
    await t.session[Symbol.asyncDispose]();
    expect(t.seen.slice(4).sort()).toEqual(["close a", "close b"]);
  });

  it("is closed if it is the oldest of more than four", async () => {
    await using t = await openTroupe();
    for (const agent of ["b", "c", "d", "e"]) await t.session.change({ agent });
    expect(t.seen.filter((line) => line.startsWith("close"))).toEqual([]);
    await t.session.change({ agent: "f" });
    expect(t.seen.filter((line) => line.startsWith("close"))).toEqual(["close a"]);
    await t.session.change({ agent: "b" }); // makes room for f
    await t.session.change({ agent: "a" });
    expect(t.seen.filter((line) => line.startsWith("close"))).toEqual(["close a", "close c"]);
  });

  it("has exited when the session is released, also after several releases", async () => {
    await using t = await openTroupe();
    const ended = deferred();
    t.closing.until = ended.promise;
    const first = t.session[Symbol.asyncDispose]();
    const second = t.session.close().then(() => t.seen.at(-1));
    await new Promise(setImmediate);
    expect(await t.store.currentLease(t.session.id)).toBeDefined();
    ended.resolve();
    await first;
    expect(await second).toBe("close a");
    expect(await t.store.currentLease(t.session.id)).toBeUndefined();
  });

  it("gets a new connection for another model, and the old one is closed", async () => {
    await using t = await openTroupe();
    await t.session.change({ agent: "b" });
    await t.session.change({ agent: "a", model: "m" });
    expect(t.seen).toEqual(["open a", "open b", "open a", "close a"]);
  });

  it("stays available if a switch fails", async () => {
    await using t = await openTroupe();
    t.missing.add("b");
    await expect(t.session.change({ agent: "b" })).rejects.toThrow("b is not to be had");
    expect(await t.session.prompt("go").outcome).toEqual(DONE);
    expect(t.seen).toEqual(["open a"]);
  });

  it("asks and records under its own name, and gets answers like the current agent", async () => {
    const turn = lasting();
    await using t = await openTroupe(turn.play);
    await t.session.change({ agent: "b" });
    const running = t.session.prompt("go");
    await vi.waitFor(() => expect(t.session.state.turn).toBeDefined()); // it lasts until `turn.end`
    t.contexts.get("a")!.record({ type: "usage.reported", inputTokens: 3, outputTokens: 1, costUsd: 0 });
    const answer = t.contexts.get("a")!.ask({ message: "Log in", from: "github" });
    await vi.waitFor(() => expect(t.session.state.requests).toHaveLength(1));
    await t.session.answer("r1", { action: "accept" });
    expect(await answer).toMatchObject({ action: "accept" });
    expect(t.session.state.turn?.usage.inputTokens).toBe(0); // the turn belongs to b
    turn.end();
    await running.outcome;
    expect(await t.lines()).toEqual([
      "switched to b",
      "opened b",
      "started go",
      "asks r1 Log in",
      "answered r1 accept",
      "ended done",
    ]);
    const asked = (await t.events()).filter(({ type }) => /question|usage/.test(type));
    expect(asked.map(({ agent }) => agent)).toEqual(["a", "a", "a"]);
    expect(t.session.state).toMatchObject({ agent: "b", usageByAgent: { a: { inputTokens: 3 } } });
  });
});

describe("a switch during a turn", () => {
  it("happens after the turn and before queued input", async () => {
    const turn = lasting();
    await using t = await openTroupe(turn.play);
    const running = t.session.prompt("first");
    await t.session.queue("second");
    const switching = t.session.change({ agent: "b" });
    turn.end();
    await running.outcome;
    await switching;
    await t.session.idle();
    expect(await t.lines()).toEqual([
      "started first",
      "queued second",
      "ended done",
      "switched to b",
      "opened b",
      "started second",
      "ended done",
    ]);
  });

  it("happens after a cancelled turn too", async () => {
    await using t = await openTroupe(lasting().play);
    t.session.prompt("first");
    const switching = t.session.change({ agent: "b" });
    await t.session.cancel();
    await switching;
    expect(await t.lines()).toEqual(["started first", "ended cancelled", "switched to b", "opened b"]);
  });

  it("is replaced by a later switch and rejects with interrupted", async () => {
    const turn = lasting();
    await using t = await openTroupe(turn.play);
    t.session.prompt("first");
    const given = t.session.change({ agent: "b" });
    const later = t.session.change({ agent: "c" });
    await expect(given).rejects.toMatchObject({ code: "interrupted" });
    turn.end();
    await later;
    expect(t.seen).toEqual(["open a", "open c"]);
  });

  it("is withdrawn by a change to the current agent", async () => {
    const turn = lasting();
    await using t = await openTroupe(turn.play);
    const running = t.session.prompt("first");
    const given = t.session.change({ agent: "b" });
    await t.session.change({ agent: "a" });
    await expect(given).rejects.toMatchObject({ code: "interrupted" });
    turn.end();
    await running.outcome;
    await t.session.idle();
    expect(await t.lines()).toEqual(["started first", "ended done"]);
  });

  it("rejects with the reason if the agent is unavailable, and leaves the session unchanged", async () => {
    const turn = lasting();
    await using t = await openTroupe(turn.play);
    t.missing.add("b");
    t.session.prompt("first");
    await t.session.queue("second");
    const switching = t.session.change({ agent: "b" });
    turn.end();
    await expect(switching).rejects.toThrow("b is not to be had");
    await t.session.idle();
    expect(await t.lines()).toEqual(["started first", "queued second", "ended done", "started second", "ended done"]);
  });

  it.each(["end", "close"] as const)("is settled when the session is released (%s)", async (how) => {
    await using t = await openTroupe(lasting().play);
    t.session.prompt("first");
    const switching = t.session.change({ agent: "b" });
    const settled = expect(switching).rejects.toMatchObject({ code: "session_closed" });
    await t.session[how]();
    await settled;
    expect(t.seen).toEqual(["open a", "close a"]);
  });
});

describe("switching between the built-in agent and programs", () => {
  const REVIEWER = `[agents.reviewer]\nbackend = "api"\nmodel = "anthropic/claude-reviewer"\n`;

  it("shares one conversation, and restores the model of each agent", async () => {
    await using s = await openScene([call("bash", { command: "true" }), say("one"), say("two"), say("three")], {
      permissions: "all",
      model: "anthropic/claude-x",
    });
    await s.configure(REVIEWER);
    const first = s.session.prompt("first");
    const switching = s.session.change({ agent: "reviewer" });
    await first.outcome;
    await switching;
    await s.session.prompt("second").outcome;
    await s.session.change({ agent: "anthropic" });
    await s.session.prompt("third").outcome;
    expect(s.model.requests.map(({ model }) => model)).toEqual(["claude-x", "claude-x", "claude-reviewer", "claude-x"]);
    expect(
      s.model.requests
        .at(-1)!
        .messages.filter(({ text }) => text !== "")
        .map(({ text }) => text),
    ).toEqual(["first", "one", "second", "two", "third"]);
    expect(s.model.problems).toEqual([]);
  });

  it("sends a returning program the missed messages once, in its own session", async () => {
    await using s = await openScene([say("from the other"), say("and again")]);
    const record = `${s.home}/record`;
    const { command } = await writeAcpAgent(s.home, {
      record,
      prompts: [[{ say: ["one"] }], [{ say: ["two"] }], [{ say: ["three"] }]],
    });
    await s.configure(`[agents.program]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}`);
    await s.session.change({ agent: "program" });
    await s.session.prompt("first").outcome;
    const { nativeId } = s.session.state;
    await s.session.change({ agent: "anthropic" });
    await s.session.prompt("between").outcome;
    await s.session.change({ agent: "program" });
    await s.session.prompt("second").outcome;
    await s.session.prompt("third").outcome;
    expect(s.session.state.nativeId).toBe(nativeId);
    const told = (await readAcpRecord(record)).flatMap((entry) => {
      const text = JSON.stringify(entry);
      return text.includes('"session/prompt"') ? [text] : [];
    });
    expect(told.map((text) => [/from the other/, /User: first/].map((words) => words.test(text)))).toEqual([
      [false, false],
      [true, false],
      [false, false],
    ]);
    const events = await s.events(s.session.id);
    const connected = events.filter((event) => event.type === "agent.connected");
    expect(connected.map(({ how }) => how)).toEqual(["new", "resumed"]);
    expect(events.filter(({ type }) => type === "process.started")).toHaveLength(1);
  });

  it("answers a server of an inactive agent, and starts that server once", async () => {
    await using w = await openWorld([call("bash", { command: "true" }), say("one"), call("s__echo"), say("two")]);
    const [journal, asks] = [`${w.home}/journal`, `${w.home}/asks`];
    const { command, args } = scriptedServer("s", `journal=${journal}`, `ask-when=${asks}`);
    await w.configure(`[mcp.s]\ncommand = ${JSON.stringify([command, ...args])}\n${REVIEWER}mcp = []\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "anthropic" });
    await session.tools.settled({ signal: AbortSignal.timeout(20_000) });
    await session.change({ agent: "reviewer" });
    const turn = session.prompt("go");
    await vi.waitFor(() => expect(session.state.requests).toHaveLength(1), 20_000);
    await writeFile(asks, "");
    await vi.waitFor(() => expect(session.state.requests).toHaveLength(2), 20_000);
    const waiting = (await w.store.summary(session.id))?.waitingFor;
    expect(waiting).toEqual(["r1", "r2"]);
    await using door = await w.open();
    await door.answer(session.id, "r2", { action: "accept", content: {} });
    await vi.waitFor(async () => expect(await readFile(journal, "utf8")).toContain("answered accept"), 20_000);
    expect(session.state.turn?.id).toBe(turn.id); // only the server got an answer
    await door.answer(session.id, "r1", { decision: "allow" });
    expect(await turn.outcome).toMatchObject({ status: "done" });
    await session.change({ agent: "anthropic", permissions: "all" });
    expect(await session.prompt("again").outcome).toMatchObject({ status: "done" });
    const events = await w.events(session.id);
    const asked = events.filter(({ type }) => type === "question.asked" || type === "permission.requested");
    expect(asked.map(({ agent, turnId }) => [agent, turnId])).toEqual([
      ["reviewer", turn.id],
      ["anthropic", undefined],
    ]);
    const lines = (await readFile(journal, "utf8")).split("\n");
    expect(lines.filter((line) => line === "started")).toHaveLength(1);
    expect(lines.filter((line) => line === "call echo")).toHaveLength(1);
    expect(w.model.problems).toEqual([]);
  });
});
