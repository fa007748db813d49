import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import type { EventBody, TurnContext, TurnOutcome } from "../../domain/index.ts";
import { sampleActivity, startGroup } from "../../stdx/index.ts";
import {
  openScriptedSession,
  waitForStop,
  DONE,
  type ScriptedTurn,
  type ScriptedSessionOptions,
} from "../test-scripted-session.ts";

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

/** True if tests run that wait for five seconds or more of real time, one of them without leaving the event loop. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

/** Records these events, then stays silent until it is stopped. */
function silentAfter(...bodies: EventBody[]): ScriptedTurn {
  return async (turn) => {
    turn.log.record(...bodies);
    await waitForStop(turn);
    return { status: "cancelled" };
  };
}

/** Starts a turn of this agent, and resolves when its first events are in the log. */
async function startStalling(play: ScriptedTurn, options: ScriptedSessionOptions = {}) {
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
    /** Checks that the turn does not end during many checks of the watchdog. */
    stillRuns: async () => {
      const looks = performance.now() + 200;
      await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(looks));
      expect(settled).toBeUndefined();
    },
  };
}

describe("the stall watchdog", { concurrent: !IS_SLOW_RUN }, () => {
  it.each<[string, EventBody[], number]>([
    ["model", [SAYS], 300],
    ["model", [TOOL, { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" }], 300],
    ["tool", [SAYS, TOOL], 1800],
  ])("reports a stall at the %s limit and not before", async (clock, bodies, seconds) => {
    await using s = await startStalling(silentAfter(...bodies));
    s.clock.advance(seconds - 1);
    await s.stillRuns();
    s.clock.advance(1);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock });
    expect((await s.events()).at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "stalled", clock } });
  });

  it("reports a stall at the progress limit despite constant output", async () => {
    await using s = await startStalling(silentAfter(SAYS));
    for (let minutes = 0; minutes < 56; minutes += 4) {
      s.clock.advance(240);
      s.turn.log.record(PRINTS, { type: "agent.raw", data: { heartbeat: minutes } });
    }
    await s.stillRuns();
    s.clock.advance(240);
    s.turn.log.record(PRINTS);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "progress" });
  });

  it("reports no stall while there is progress", async () => {
    await using s = await startStalling(silentAfter(SAYS));
    for (let minutes = 0; minutes < 120; minutes += 4) {
      s.clock.advance(240);
      s.turn.log.record(SAYS, PRINTS);
    }
    await s.stillRuns();
    await s.session.cancel();
  });

  it("reports no silence while the model sends unrecorded data, until the progress limit", async () => {
    let activityCount = 0;
    await using s = await startStalling(silentAfter(SAYS), { activityCount: () => activityCount });
    for (let minutes = 0; minutes < 56; minutes += 4) {
      s.clock.advance(240);
      activityCount += 100;
      await s.stillRuns();
    }
    s.clock.advance(240);
    activityCount += 100;
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "progress" });
  });

  it("reports a stall at the tool limit, regardless of other output of the program", async () => {
    let activityCount = 0;
    await using s = await startStalling(silentAfter(TOOL), { activityCount: () => (activityCount += 1) });
    s.clock.advance(1800);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "tool" });
  });

  it("allows a tool five minutes of silence", async () => {
    await using s = await startStalling(silentAfter(TOOL));
    s.clock.advance(300);
    await s.stillRuns();
    s.turn.log.record({ type: "tool.ended", toolId: "t1", outcome: "ok", text: "" });
    s.clock.advance(299);
    await s.stillRuns();
    s.clock.advance(1);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "model" });
  });

  it("uses the tool limit for a tool with output if it is longer than the progress limit", async () => {
    await using s = await startStalling(silentAfter(TOOL), { timeLimits: { tool: 7200 } });
    s.turn.log.record(PRINTS);
    s.clock.advance(7199);
    await s.stillRuns();
    s.clock.advance(1);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "tool" });
  });

  it.each<[string, (turn: TurnContext) => Promise<unknown>, { decision: "allow" } | { action: "accept" }]>([
    [
      "decision",
      (turn) => turn.permit({ toolId: "t1", tool: "bash", title: "rm", kind: "execute", readOnly: false, input: {} }),
      { decision: "allow" },
    ],
    ["answer", (turn) => turn.ask({ message: "Which?" }), { action: "accept" }],
  ])("does not count the wait for a person's %s, and restarts afterward", async (_, asks, answer) => {
    await using s = await startStalling(async (turn) => {
      turn.log.record(TOOL, { type: "tool.ended", toolId: "t1", outcome: "ok", text: "" });
      await asks(turn);
      await waitForStop(turn);
      return DONE;
    });
    await vi.waitFor(() => expect(s.session.state.requests).toHaveLength(1));
    s.clock.advance(86_400);
    await s.stillRuns();
    await s.session.answer("r1", answer);
    await vi.waitFor(() => expect(s.session.state.requests[0]?.answer).toBeDefined());
    s.clock.advance(290);
    await s.stillRuns();
    s.clock.advance(10);
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "model" });
  });

  it.runIf(IS_SLOW_RUN)(
    "does not count the time while this process was stopped or the machine slept",
    { timeout: 20_000 },
    async () => {
      await using s = await startStalling(silentAfter(SAYS));
      const awake = performance.now() + 5_500;
      while (performance.now() < awake); // blocks the event loop, like a stopped process
      s.clock.advance(100_000);
      await s.stillRuns();
      s.clock.advance(300);
      expect(await s.outcome).toMatchObject({ status: "stalled", clock: "model" });
    },
  );

  it.each([
    ["model", [SAYS]],
    ["tool", [TOOL]],
  ] as const)("ignores a disabled limit: %s", async (clock, bodies) => {
    await using s = await startStalling(silentAfter(...bodies), { timeLimits: { [clock]: false } });
    s.clock.advance(1_000_000);
    await s.stillRuns();
    await s.session.cancel();
  });

  it("names the limit, the duration, the last event and the fix in the message", async () => {
    await using s = await startStalling(silentAfter(SAYS, TOOL), { timeLimits: { tool: 600 } });
    s.clock.advance(660);
    const message =
      "robin stalled: a running tool printed nothing for 11 min (last event: tool npm run build started; " +
      "running: npm run build), so the turn was stopped; if it needs more time, raise stall.tool of agents.robin " +
      "in rookery.toml (now 600 seconds; false means no limit)";
    expect(await s.outcome).toEqual({ status: "stalled", clock: "tool", message });
    expect(await s.lines()).toEqual(["started go", "tool npm run build", "tool unknown", "ended stalled"]);
  });
});

describe("a stalled agent", () => {
  it("is interrupted, and its last events are recorded", async () => {
    await using s = await startStalling(async (turn) => {
      await waitForStop(turn);
      turn.log.record({ type: "message.completed", messageId: "m1", text: "so far" });
      return DONE;
    });
    s.clock.advance(300);
    expect(await s.outcome).toMatchObject({ status: "stalled" });
    expect(await s.lines()).toEqual(["started go", "says so far", "ended stalled"]);
  });

  it.runIf(IS_SLOW_RUN)("does not keep the turn open if it ignores the interruption", { timeout: 20_000 }, async () => {
    await using s = await startStalling(() => new Promise(() => undefined));
    s.clock.advance(300);
    expect(await s.outcome).toMatchObject({ status: "stalled" });
  });

  it("counts as cancelled if a person cancels it meanwhile", async () => {
    await using s = await startStalling(async (turn) => {
      await waitForStop(turn);
      await new Promise((resolve) => setTimeout(resolve, 100)); // stops slowly
      return { status: "cancelled" };
    });
    s.clock.advance(300);
    await waitForStop(s.turn);
    await s.session.cancel();
    expect(await s.outcome).toEqual({ status: "cancelled" });
  });
});

describe.runIf(process.platform === "linux")("the process of a silent tool", () => {
  let count = 0;
  /** Starts an agent's program with a tool, whose process runs the script. */
  async function withChild(script: string) {
    const childMarker = `watchdog-${process.pid}-${(count += 1)}`;
    const s = await startStalling(silentAfter(TOOL), { childMarker });
    const program = await startGroup("sh", ["-c", `sh -c "$SCRIPT" & echo up; wait`], {
      cwd: "/",
      env: { PATH: process.env["PATH"], SCRIPT: script },
      marker: childMarker,
    });
    await once(program.child.stdout!, "data");
    await vi.waitFor(() => expect(sampleActivity(childMarker, 0).uses.size).toBe(1));
    const cpuMs = () => [...sampleActivity(childMarker, 0).uses.values()].reduce((sum, use) => sum + use.cpuMs, 0);
    return {
      ...s,
      /** Waits until the process has used the CPU again: a busy machine may leave it none for a while. */
      async hasComputed() {
        const before = cpuMs();
        await vi.waitFor(() => expect(cpuMs() - before).toBeGreaterThanOrEqual(50), 20_000);
      },
      [Symbol.asyncDispose]: async () => {
        await program.stop(0);
        await s[Symbol.asyncDispose]();
      },
    };
  }

  it("prevents a stall while it uses the CPU", async () => {
    await using s = await withChild("while :; do [ -e /proc/$PPID ] || exit; done");
    await s.hasComputed();
    s.clock.advance(1800);
    await s.stillRuns();
    await s.hasComputed();
    s.clock.advance(1799); // CPU use restarts the limit
    await s.stillRuns();
    await s.session.cancel();
  });

  it("does not prevent a stall while it sleeps", async () => {
    await using s = await withChild("exec sleep 300");
    const later = setInterval(() => s.clock.advance(1800), 300); // its start may count as CPU use
    await s.outcome.finally(() => clearInterval(later));
    expect(await s.outcome).toMatchObject({ status: "stalled", clock: "tool" });
  });
});
