import { describe, expect, it, vi } from "vitest";
import type { LimitReached, TurnContext } from "../domain/index.ts";
import { collect, transcript } from "../testing/index.ts";
import { endStoredSession } from "./open.ts";
import type { Session } from "./session.ts";
import {
  DONE,
  openScriptedSession,
  waitForStop,
  type ScriptedTurn,
  type ScriptedSessionOptions,
} from "./test-scripted-session.ts";
import { dyingAfter } from "./test-scene.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");
const after = (seconds: number) => new Date(START + seconds * 1000).toISOString();
const limited = (seconds?: number): LimitReached => ({
  status: "limited",
  message: "5-hour limit reached",
  ...(seconds !== undefined && { resetsAt: after(seconds) }),
});

/** An agent that reaches these limits and then finishes; records how it was called. */
function meeting(limits: readonly LimitReached[]): { readonly play: ScriptedTurn; readonly heard: TurnContext[] } {
  const heard: TurnContext[] = [];
  return {
    heard,
    play: (turn) => {
      heard.push(turn);
      return Promise.resolve(limits[heard.length - 1] ?? DONE);
    },
  };
}

async function parked(limits: readonly LimitReached[], options: ScriptedSessionOptions = {}) {
  const { play, heard } = meeting(limits);
  const s = await openScriptedSession(play, options);
  const turn = s.session.prompt("go");
  const isParked = async () => {
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "parked" });
  };
  await vi.waitFor(isParked, { interval: 5 });
  return { ...s, heard, turn };
}

describe("a turn that reaches a usage limit", () => {
  it("is parked in the log until the limit resets, and then continues", async () => {
    await using s = await parked([limited(3600)]);
    const summary = await s.store.summary(s.session.id);
    expect(summary).toMatchObject({ status: "parked", parkedUntil: after(3605) }); // clocks differ
    s.clock.advance(3604);
    await vi.waitFor(() => expect(s.session.state.turn?.parkedUntil).toBe(after(3605)));
    expect(s.heard.map(({ continued }) => continued)).toEqual([false]);
    s.clock.advance(1);
    expect(await s.turn.outcome).toEqual(DONE);
    expect(s.heard.map(({ continued }) => continued)).toEqual([false, true]);
    expect(await s.lines()).toEqual(["started go", "limited", "parked", "continued", "ended done"]);
    expect((await s.events()).find(({ type }) => type === "limit.reached")).toMatchObject({ resetsAt: after(3600) });
    const later = await s.store.summary(s.session.id);
    expect([later?.status, later?.parkedUntil]).toEqual(["idle", undefined]);
  });

  it.each<[string, (session: Session) => Promise<void>]>([
    ["closed", (session) => session.close()],
    ["disposed of", (session) => session[Symbol.asyncDispose]()],
  ])("stays parked when the session is %s, and continues when it is opened again", async (_, release) => {
    await using s = await parked([limited(3600)]);
    await release(s.session);
    await expect(s.turn.outcome).rejects.toMatchObject({ code: "interrupted" });
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "parked", parkedUntil: after(3605) });
    expect(await s.store.currentLease(s.session.id)).toBeUndefined();
    s.clock.advance(3605);
    const next = await s.reopen();
    expect(await next.resumed?.outcome).toEqual(DONE);
    expect((await s.lines()).slice(-3)).toEqual(["notice turn_resumed", "continued", "ended done"]);
  });

  it("closes its tools and requests while it is parked", async () => {
    let runs = 0;
    await using s = await openScriptedSession((turn) => {
      runs += 1;
      if (runs > 1) return Promise.resolve(DONE);
      turn.log.record({ type: "tool.started", toolId: "t1", name: "sh", title: "sh", kind: "execute", input: {} });
      void turn.ask({ message: "Which?" }).catch(() => undefined);
      return turn.log.commit().then(() => limited(60));
    });
    const { outcome } = s.session.prompt("go");
    await vi.waitFor(() => expect(s.session.state.turn?.parkedUntil).toBeDefined());
    expect(s.session.state.tools).toEqual([]);
    expect(await s.store.summary(s.session.id)).toMatchObject({ status: "parked", waitingFor: [] });
    s.clock.advance(65);
    expect(await outcome).toEqual(DONE);
  });

  it.each([
    ["was allowed before the turn was parked", true],
    ["was requested before the turn was parked and not answered", false],
  ])("asks again for a call with the ID of one that %s", async (_, answers) => {
    const request = { toolId: "t1", tool: "sh", kind: "execute", readOnly: false, input: {} } as const;
    const decisions: unknown[] = [];
    await using s = await openScriptedSession(async (turn) => {
      const first = turn.continued !== true;
      const decision = turn.permit({ ...request, title: first ? "ls" : "rm -r ." });
      if (!first || answers) decisions.push(await decision);
      return first ? turn.log.commit().then(() => limited(60)) : DONE;
    });
    const { outcome } = s.session.prompt("go");
    const asked = (requestId: string) => async () =>
      expect(await s.store.summary(s.session.id)).toMatchObject({ status: "waiting", waitingFor: [requestId] });
    if (answers) {
      await vi.waitFor(asked("r1"));
      await s.session.answer("r1", { decision: "allow" });
    }
    await vi.waitFor(() => expect(s.session.state.turn?.parkedUntil).toBeDefined());
    s.clock.advance(65);
    await vi.waitFor(asked("r2"));
    await s.session.answer("r2", { decision: "deny" });
    expect(await outcome).toEqual(DONE);
    expect(decisions.at(-1)).toMatchObject({ allowed: false, outcome: "denied" });
  });

  it("waits a few seconds if the limit has already reset", async () => {
    await using s = await parked([limited(-100)]);
    expect(s.session.state.turn?.parkedUntil).toBe(after(5));
    s.clock.advance(5);
    expect(await s.turn.outcome).toEqual(DONE);
  });

  it("can stall after it continues but not while it is parked", async () => {
    let runs = 0;
    await using s = await openScriptedSession(async (turn) => {
      runs += 1;
      if (runs === 1) return limited(3600);
      await waitForStop(turn);
      return DONE;
    });
    const { outcome } = s.session.prompt("go");
    await vi.waitFor(() => expect(s.session.state.turn?.parkedUntil).toBeDefined());
    s.clock.advance(3605);
    await vi.waitFor(() => expect(runs).toBe(2));
    s.clock.advance(300);
    expect(await outcome).toMatchObject({ status: "stalled", clock: "model" });
  });

  it.each<[string, LimitReached, number | undefined, string]>([
    ["has no reset time", limited(), undefined, "the provider did not say when the limit resets: try again later"],
    [
      "has an invalid reset time",
      { ...limited(), resetsAt: "soon" },
      undefined,
      "the provider did not say when the limit resets: try again later",
    ],
    [
      "has a reset time beyond the year 9999",
      { ...limited(), resetsAt: "+058000-01-01T00:00:00.000Z" },
      1e15,
      "the provider did not say when the limit resets: try again later",
    ],
    [
      "would wait longer than park_limit",
      limited(7 * 3600),
      undefined,
      "the limit resets at 2026-01-01T07:00:00.000Z, in 7 h 0 min: try again then, or " +
        "raise park_limit (now 21600 seconds) of agents.robin in rookery.toml so that turns wait for it",
    ],
    [
      "has a park_limit of 0",
      limited(60),
      0,
      "the limit resets at 2026-01-01T00:01:00.000Z, in 60 s: try again then, or " +
        "raise park_limit (now 0 seconds) of agents.robin in rookery.toml so that turns wait for it",
    ],
  ])("fails with the reason if it %s", async (_, limit, park, words) => {
    await using s = await openScriptedSession(meeting([limit]).play, { timeLimits: { park } });
    const { outcome } = s.session.prompt("go");
    const message = `5-hour limit reached; ${words}`;
    expect(await outcome).toEqual({ status: "failed", code: "usage_limited", message });
    expect(await s.lines()).toEqual(["started go", "limited", "ended failed usage_limited"]);
  });

  it("is parked at most five times", async () => {
    await using s = await parked(Array.from({ length: 6 }, () => limited(60)));
    const next = vi.waitFor(
      async () => {
        s.clock.advance(65);
        expect((await s.store.summary(s.session.id))?.status).toBe("idle");
      },
      { interval: 20 },
    );
    expect(await s.turn.outcome).toMatchObject({ status: "failed", code: "usage_limited" });
    await next;
    expect(s.heard).toHaveLength(6);
    expect((await s.lines()).filter((line) => line === "parked")).toHaveLength(5);
  });
});

describe("a parked turn", () => {
  it("can be cancelled", async () => {
    await using s = await parked([limited(3600)]);
    await s.session.cancel();
    expect(await s.turn.outcome).toEqual({ status: "cancelled" });
    expect(await s.lines()).toEqual(["started go", "limited", "parked", "ended cancelled"]);
    s.session.prompt("another");
    await s.session.idle();
    expect((await s.lines()).at(-1)).toBe("ended done");
  });

  it("is cancelled by a close that asks for it", async () => {
    await using s = await parked([limited(3600)]);
    await s.session.close({ cancelParked: true });
    expect(await s.turn.outcome).toEqual({ status: "cancelled" });
    expect((await s.reopen()).state.closed).toBe(false);
  });

  it("ends when another process closes the session", async () => {
    await using s = await parked([limited(3600)]);
    const { store, clock } = s;
    await endStoredSession({ store, clock, owner: "2.2.other", attended: false }, s.session.id);
    expect(await s.turn.outcome).toEqual({ status: "cancelled" });
    expect((await s.lines()).slice(-2)).toEqual(["closed", "ended cancelled"]);
  });

  it.each([
    ["waits for the rest of the time", 600],
    ["continues at once if the time has passed", 7200],
  ])("of a killed process %s when the session is opened again", async (_, later) => {
    await using s = await parked([limited(3600)], { through: (store) => dyingAfter(store, 3) });
    s.clock.advance(later - 60);
    const reopened = await s.reopen(); // its agent cannot resume a turn that is in progress
    expect(reopened.resumed?.id).toBe(s.turn.id);
    if (later < 3605) {
      await reopened.resumed?.[Symbol.asyncIterator]().next(); // waits until it exists
      expect(reopened.state.turn?.parkedUntil).toBe(after(3605));
      expect(s.heard).toHaveLength(1);
      s.clock.advance(3605 - later);
    }
    expect(transcript(await collect(reopened.resumed!))).toEqual(["notice turn_resumed", "continued", "ended done"]);
    expect(s.heard.at(-1)).toMatchObject({ continued: true, input: [{ type: "text", text: "go" }] });
    await expect(s.turn.outcome).rejects.toMatchObject({ code: "store_closed" }); // the dead process wrote nothing more
    expect((await s.lines()).filter((line) => line.startsWith("ended"))).toEqual(["ended done"]);
  });

  it("ends if the session switches to another agent", async () => {
    await using s = await parked([limited(3600)], { through: (store) => dyingAfter(store, 3) });
    const reopened = await s.reopen({ agent: "wren" });
    expect(reopened.resumed).toBeUndefined();
    expect((await s.lines()).slice(2, 5)).toEqual(["parked", "ended failed interrupted", "switched to wren"]);
    await s.session[Symbol.asyncDispose]();
  });
});
