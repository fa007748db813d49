import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import type { EventBody, TurnContext, TurnOutcome } from "../../domain/index.ts";
import { sampleActivity, startGroup } from "../../stdx/index.ts";
import { openScriptedSession, waitForStop, DONE, type ScriptedTurn, type ScriptedSessionOptions } from "../test-scripted-session.ts";

const TOOL: EventBody = {
  type: "tool.started",
  toolId: "t1",
  name: "bash",
  title: "npm run build",
  kind: "execute",
  input: {},
};
const SAYS: EventBody = { type: "message.delta", messageId: "m1", text: "let me see" };
const PRINTS: EventBody = { type: "output.text", text: "still here\n" };

/** Whether tests run that wait for five seconds or more of real time. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

/** Records this, and is silent then until it is stopped. */
function silentAfter(...bodies: EventBody[]): ScriptedTurn {
  return async (turn) => {
    turn.log.record(...bodies);
    await waitForStop(turn);
    return { status: "cancelled" };
  };
}

/** A turn of such an agent, when all that it recorded is in the log. */
async function begun(play: ScriptedTurn, options: ScriptedSessionOptions = {}) {
  let turn: TurnContext | undefined;
  const s = await openScriptedSession((context) => {
    turn = context;
    return play(context);
  }, options);
  const { outcome } = s.session.prompt("go");
  let settled: TurnOutcome | undefined;
  void outcome.then((end) => (settled = end));
  const context = await vi.waitFor(() => turn ?? Promise.reject(new Error("not yet")));
  await context.log.commit();
  return {
    ...s,
    turn: context,
    outcome,
    /** Nothing ends the turn, however often it is looked at. */
    stillRuns: async () => {
      const looks = performance.now() + 200;
      await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(looks));
      expect(settled).toBeUndefined();
    },
  };
}

describe("a turn has come to a stop", () => {
  it.each<[string, EventBody[], number]>([
    ["model", [SAYS], 300],
    ["model", [TOOL, { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" }], 300],
    ["tool", [SAYS, TOOL], 1800],
  ])("by the clock of the %s, and not before", async (clock, bodies, seconds) => {
    await using s = await begun(silentAfter(...bodies));
    s.clock.turn(seconds - 1);
    await s.stillRuns();
    s.clock.turn(1);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock });
    expect((await s.events()).at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "stalled", clock } });
  });

  it("by the clock of progress, although noise comes all the while", async () => {
    await using s = await begun(silentAfter(SAYS));
    for (let minutes = 0; minutes < 56; minutes += 4) {
      s.clock.turn(240);
      s.turn.log.record(PRINTS, { type: "agent.raw", data: { heartbeat: minutes } });
    }
    await s.stillRuns();
    s.clock.turn(240);
    s.turn.log.record(PRINTS);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "progress" });
  });

  it("not while each thing that moves it on comes in time", async () => {
    await using s = await begun(silentAfter(SAYS));
    for (let minutes = 0; minutes < 120; minutes += 4) {
      s.clock.turn(240);
      s.turn.log.record(SAYS, PRINTS);
    }
    await s.stillRuns();
    await s.session.cancel();
  });

  it("not while the model is heard at what is recorded only when it is whole, but by the clock of progress then", async () => {
    let heard = 0;
    await using s = await begun(silentAfter(SAYS), { heard: () => heard });
    for (let minutes = 0; minutes < 56; minutes += 4) {
      s.clock.turn(240);
      heard += 100;
      await s.stillRuns();
    }
    s.clock.turn(240);
    heard += 100;
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "progress" });
  });

  it("by the clock of the tool, whatever its program says beside it", async () => {
    let heard = 0;
    await using s = await begun(silentAfter(TOOL), { heard: () => (heard += 1) });
    s.clock.turn(1800);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "tool" });
  });

  it("not while a tool is silent for five minutes", async () => {
    await using s = await begun(silentAfter(TOOL));
    s.clock.turn(300);
    await s.stillRuns();
    s.turn.log.record({ type: "tool.ended", toolId: "t1", outcome: "ok", text: "" });
    s.clock.turn(299);
    await s.stillRuns();
    s.clock.turn(1);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "model" });
  });

  it("not while noise comes of a tool that has more time than progress", async () => {
    await using s = await begun(silentAfter(TOOL), { patience: { tool: 7200 } });
    s.turn.log.record(PRINTS);
    s.clock.turn(7199);
    await s.stillRuns();
    s.clock.turn(1);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "tool" });
  });

  it.each<[string, (turn: TurnContext) => Promise<unknown>, { decision: "allow" } | { action: "accept" }]>([
    [
      "decision",
      (turn) => turn.permit({ toolId: "t1", tool: "bash", title: "rm", kind: "execute", readOnly: false, input: {} }),
      { decision: "allow" },
    ],
    ["answer", (turn) => turn.ask({ message: "Which?" }), { action: "accept" }],
  ])("not while a person's %s is waited for, and its time begins anew then", async (_, asks, answer) => {
    await using s = await begun(async (turn) => {
      turn.log.record(TOOL, { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" });
      await asks(turn);
      await waitForStop(turn);
      return DONE;
    });
    await vi.waitFor(() => expect(s.session.state.requests).toHaveLength(1));
    s.clock.turn(86_400);
    await s.stillRuns();
    await s.session.answer("r1", answer);
    await vi.waitFor(() => expect(s.session.state.requests[0]?.answer).toBeDefined());
    s.clock.turn(290);
    await s.stillRuns();
    s.clock.turn(10);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "model" });
  });

  it.runIf(IS_SLOW_RUN)(
    "not by the time in which this process was stopped, or its machine asleep",
    { timeout: 20_000 },
    async () => {
      await using s = await begun(silentAfter(SAYS));
      const awake = performance.now() + 5_500;
      while (performance.now() < awake); // nothing of it runs, as then
      s.clock.turn(100_000);
      await s.stillRuns();
      s.clock.turn(300);
      expect(await s.outcome).toMatchObject({ status: "stalled", clock: "model" });
    },
  );

  it.each([
    ["model", [SAYS]],
    ["tool", [TOOL]],
  ] as const)("never by a clock that is off: %s", async (clock, bodies) => {
    await using s = await begun(silentAfter(...bodies), { patience: { [clock]: false } });
    s.clock.turn(1_000_000);
    await s.stillRuns();
    await s.session.cancel();
  });

  it("in words that say by which clock, for how long, what was last seen, and what to do", async () => {
    await using s = await begun(silentAfter(SAYS, TOOL), { patience: { tool: 600 } });
    s.clock.turn(660);
    const message =
      "robin stalled: nothing came while a tool ran for 11 min (last seen: tool npm run build started; " +
      "running: npm run build), and it was interrupted; where it needs longer, raise stall.tool of agents.robin " +
      "in rookery.toml (now 600 seconds; false is for ever)";
    expect(await s.outcome).toEqual({ status: "stalled", clock: "tool", message });
    expect(await s.lines()).toEqual(["started go", "tool npm run build", "tool unknown", "ended stalled"]);
  });
});

describe("an agent that has come to a stop", () => {
  it("is interrupted, and what it still says is recorded", async () => {
    await using s = await begun(async (turn) => {
      await waitForStop(turn);
      turn.log.record({ type: "message.completed", messageId: "m1", text: "so far" });
      return DONE;
    });
    s.clock.turn(300);
    expect(await s.outcome).toMatchObject({ status: "stalled" });
    expect(await s.lines()).toEqual(["started go", "says so far", "ended stalled"]);
  });

  it.runIf(IS_SLOW_RUN)("does not hold the turn if it ignores that", { timeout: 20_000 }, async () => {
    await using s = await begun(() => new Promise(() => undefined));
    s.clock.turn(300);
    expect(await s.outcome).toMatchObject({ status: "stalled" });
  });

  it("and is then cancelled by a person, was cancelled", async () => {
    await using s = await begun(async (turn) => {
      await waitForStop(turn);
      await new Promise((resolve) => setTimeout(resolve, 100)); // it is slow to stop
      return { status: "cancelled" };
    });
    s.clock.turn(300);
    await waitForStop(s.turn);
    await s.session.cancel();
    expect(await s.outcome).toEqual({ status: "cancelled" });
  });
});

describe.runIf(process.platform === "linux")("a silent tool with a process", () => {
  let count = 0;
  /** An agent's program that has started a tool, with a process that runs the script. */
  async function withChild(script: string) {
    const childMarker = `watchdog-${process.pid}-${(count += 1)}`;
    const s = await begun(silentAfter(TOOL), { childMarker });
    const program = await startGroup("sh", ["-c", `sh -c "$SCRIPT" & echo up; wait`], {
      cwd: "/",
      env: { PATH: process.env["PATH"], SCRIPT: script },
      marker: childMarker,
    });
    await once(program.child.stdout!, "data");
    await vi.waitFor(() => expect(sampleActivity(childMarker, 0).uses.size).toBe(1));
    return {
      ...s,
      [Symbol.asyncDispose]: async () => {
        await program.stop(0);
        await s[Symbol.asyncDispose]();
      },
    };
  }

  it("that works is not taken for one that hangs", async () => {
    await using s = await withChild("while :; do [ -e /proc/$PPID ] || exit; done");
    s.clock.turn(1800);
    await s.stillRuns();
    s.clock.turn(1799); // seen at work it has its time anew
    await s.stillRuns();
    await s.session.cancel();
  });

  it("that sleeps is", async () => {
    await using s = await withChild("exec sleep 300");
    const later = setInterval(() => s.clock.turn(1800), 300); // it may have been seen while it was being loaded
    await s.outcome.finally(() => clearInterval(later));
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "tool" });
  });
});
