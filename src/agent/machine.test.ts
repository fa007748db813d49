import { describe, expect, it } from "vitest";
import type { TurnOutcome } from "../domain/index.ts";
import { MAX_CONCURRENT_CALLS } from "./reply-calls.ts";
import { MAX_STEPS, type TurnEffect, type TurnEvent } from "./machine.ts";
import {
  callsFor,
  cancelled,
  compacted,
  expectPaired,
  failing,
  fatal,
  overflow,
  MachinePlayer,
  prepared,
  createRandom,
  waited,
  says,
  settled,
} from "./test-machine.ts";

/** In tokens, of a `contextSize` of 1,000. */
const NEARLY_ALL = 900;

describe("a turn", () => {
  it.each<[string, readonly TurnEvent[], readonly string[]]>([
    [
      "calls the model, and ends after its reply",
      [prepared(), says("hi"), prepared()],
      ["prepare 0", "ask 0 reply: go", "prepare 1 or end", "end done"],
    ],
    [
      "runs calls concurrently, and returns their results in order",
      [prepared(), callsFor(["a", "b", "c"]), settled("c"), settled("a"), settled("b"), prepared()],
      ["prepare 0", "ask 0 reply: go", "run a", "run b", "run c", "prepare 1", "ask 1 reply: go, calls, [a b c]"],
    ],
    [
      "runs a call that changes something alone, in order",
      [prepared(), callsFor(["a", "b", "c!", "d!", "e"]), ...["b", "a", "c!", "d!"].map(settled)],
      ["prepare 0", "ask 0 reply: go", "run a", "run b", "run c!", "run d!", "run e"],
    ],
    [
      "retries after a doubling delay, or after the provider's delay, up to the limit",
      [prepared(), failing(), waited, failing(700), waited, failing()],
      [
        "prepare 0",
        "ask 0 reply: go",
        "wait try.1 100 ms, then 1 of 2",
        "ask 0 reply.1: go",
        "wait try.2 700 ms, then 2 of 2",
        "ask 0 reply.2: go",
        "end failed provider_failed",
      ],
    ],
    [
      "has all retries available again in the next step",
      [prepared(), failing(), waited, callsFor(["a"]), settled("a"), prepared(), failing(3)],
      [
        "prepare 0",
        "ask 0 reply: go",
        "wait try.1 100 ms, then 1 of 2",
        "ask 0 reply.1: go",
        "run a",
        "prepare 1",
        "ask 1 reply: go, calls, [a]",
        "wait try.1 100 ms, then 1 of 2",
      ],
    ],
    [
      "waits at most one minute before a retry",
      [prepared(), failing(3_600_000)],
      ["prepare 0", "ask 0 reply: go", "wait try.1 60000 ms, then 1 of 2"],
    ],
    [
      "fails immediately if the failure is permanent",
      [prepared(), fatal],
      ["prepare 0", "ask 0 reply: go", "end failed provider_auth"],
    ],
    [
      "summarizes a conversation that is rejected as too long, and calls the model again",
      [prepared(), overflow, compacted, says("hi"), prepared()],
      [
        "prepare 0",
        "ask 0 reply: go",
        "summarize 0 summary.1",
        "ask 0 reply.1: summary+go",
        "prepare 1 or end",
        "end done",
      ],
    ],
    [
      "fails if the summarized conversation is rejected as too long",
      [prepared(), overflow, compacted, overflow],
      [
        "prepare 0",
        "ask 0 reply: go",
        "summarize 0 summary.1",
        "ask 0 reply.1: summary+go",
        "end failed context_overflow",
      ],
    ],
    [
      "fails if a conversation that is too long cannot be summarized",
      [prepared(), overflow, fatal],
      ["prepare 0", "ask 0 reply: go", "summarize 0 summary.1", "end failed context_overflow"],
    ],
    [
      "halves the text to summarize while it is too long, and finally fails",
      [prepared(), ...Array.from({ length: 7 }, () => overflow)],
      [
        "prepare 0",
        "ask 0 reply: go",
        "summarize 0 summary.1",
        ...[1, 2, 3, 4, 5].map((times) => `summarize 0 summary.${times + 1} halved ${times}`),
        "end failed context_overflow",
      ],
    ],
    [
      "retries the summary",
      [prepared(), overflow, failing(), waited, compacted],
      [
        "prepare 0",
        "ask 0 reply: go",
        "summarize 0 summary.1",
        "wait try.2 100 ms, then 1 of 2",
        "summarize 0 summary.2",
        "ask 0 reply.2: summary+go",
      ],
    ],
    [
      "summarizes between two steps when the context is nearly full",
      [prepared(), callsFor(["a"], NEARLY_ALL), settled("a"), prepared(), compacted, says("hi"), prepared()],
      [
        "prepare 0",
        "ask 0 reply: go",
        "run a",
        "prepare 1",
        "summarize 1 summary",
        "ask 1 reply: summary+go",
        "prepare 2 or end",
        "end done",
      ],
    ],
    [
      "after a summary that frees too little space, summarizes only if a request is rejected",
      [
        ...[prepared(), callsFor(["a"], NEARLY_ALL), settled("a"), prepared(), compacted],
        ...[callsFor(["b"], NEARLY_ALL), settled("b"), prepared(), overflow],
      ],
      [
        ...["prepare 0", "ask 0 reply: go", "run a", "prepare 1", "summarize 1 summary", "ask 1 reply: summary+go"],
        ...["run b", "prepare 2", "ask 2 reply: summary+go, calls, [b]", "summarize 2 summary.1"],
      ],
    ],
    [
      "continues with the whole conversation if it is nearly full and cannot be summarized",
      [prepared(), callsFor(["a"], NEARLY_ALL), settled("a"), prepared(), fatal, says("hi"), prepared()],
      [
        "prepare 0",
        "ask 0 reply: go",
        "run a",
        "prepare 1",
        "summarize 1 summary",
        "ask 1 reply.1: go, calls, [a]",
        "prepare 2 or end",
        "end done",
      ],
    ],
    [
      "delivers input before the first step and between steps",
      [prepared("one", "two"), callsFor(["a"]), settled("a"), prepared("three"), says("hi"), prepared()],
      [
        "prepare 0",
        "ask 0 reply: go, one, two",
        "run a",
        "prepare 1",
        "ask 1 reply: go, one, two, calls, [a], three",
        "prepare 2 or end",
        "end done",
      ],
    ],
    [
      "does not end while input is waiting",
      [prepared(), says("hi"), prepared("wait"), says("well"), prepared()],
      [
        "prepare 0",
        "ask 0 reply: go",
        "prepare 1 or end",
        'ask 1 reply: go, "hi", wait',
        "prepare 2 or end",
        "end done",
      ],
    ],
    [
      "keeps unanswered input after the summary",
      [prepared(), callsFor(["a"], NEARLY_ALL), settled("a"), prepared("wait"), compacted],
      ["prepare 0", "ask 0 reply: go", "run a", "prepare 1", "summarize 1 summary", "ask 1 reply: summary+go, wait"],
    ],
    [
      "sends no message for an empty reply",
      [prepared(), says("  "), prepared("and?"), says("hi"), prepared()],
      ["prepare 0", "ask 0 reply: go", "prepare 1 or end", "ask 1 reply: go, and?", "prepare 2 or end", "end done"],
    ],
    [
      "runs no call of a truncated reply",
      [prepared(), truncateReply(callsFor(["a"]))],
      ["prepare 0", "ask 0 reply: go", "end failed reply_truncated"],
    ],
    [
      "stops before a step if a budget requires it",
      [prepared(), callsFor(["a"]), settled("a"), preparedToStop({ status: "failed", code: "over", message: "" })],
      ["prepare 0", "ask 0 reply: go", "run a", "prepare 1", "end failed over"],
    ],
    [
      "ends as done if it must stop before a step that is not needed",
      [prepared(), says("hi"), preparedToStop({ status: "failed", code: "over", message: "" })],
      ["prepare 0", "ask 0 reply: go", "prepare 1 or end", "end done"],
    ],
  ])("%s", (_, events, lines) => {
    expect(new MachinePlayer().sendAll(...events).lines).toEqual(lines);
  });

  it("summarizes before the first step if the conversation is already nearly full", () => {
    const turn = new MachinePlayer({}, { tokens: NEARLY_ALL, messages: 1 }).sendAll(prepared(), compacted);
    expect(turn.lines).toEqual(["prepare 0", "summarize 0 summary", "ask 0 reply: summary+go"]);
  });

  it("never summarizes on its own if the context size is unknown", () => {
    const turn = new MachinePlayer({ contextSize: undefined }, { tokens: 1e9, messages: 1 }).sendAll(prepared());
    expect(turn.lines).toEqual(["prepare 0", "ask 0 reply: go"]);
  });

  it("starts a step as before a crash, regardless of the current context size", () => {
    const begun = (how: "reply" | "summary"): TurnEvent => ({ type: "step_prepared", inputs: [], begun: how });
    const full = { tokens: NEARLY_ALL, messages: 1 };
    expect(new MachinePlayer({}, full).sendAll(begun("reply")).lines).toEqual(["prepare 0", "ask 0 reply: go"]);
    const roomy = new MachinePlayer({ contextSize: undefined }, full).sendAll(begun("summary"));
    expect(roomy.lines).toEqual(["prepare 0", "summarize 0 summary"]);
  });

  it("runs 200 calls of one reply, 8 concurrently, and returns all results in order", () => {
    const ids = Array.from({ length: 200 }, (_, index) => `c${index}`);
    const turn = new MachinePlayer().sendAll(prepared());
    const running = turn.send(callsFor(ids)).map(getCallId);
    expect(running).toEqual(ids.slice(0, MAX_CONCURRENT_CALLS));
    while (running.length > 0) {
      const next = running.splice(running.length > 3 ? 3 : 0, 1)[0]!; // out of order
      running.push(
        ...turn
          .send(settled(next))
          .map(getCallId)
          .filter((id) => id !== ""),
      );
      expect(running.length).toBeLessThanOrEqual(MAX_CONCURRENT_CALLS);
    }
    turn.send(prepared());
    expect(turn.lines.at(-1)).toBe(`ask 1 reply: go, calls, [${ids.join(" ")}]`);
  });

  it("is stopped if the model never stops calling tools", () => {
    const turn = new MachinePlayer({ contextSize: undefined });
    for (let step = 0; step < MAX_STEPS; step += 1)
      turn.sendAll(prepared(), callsFor([`c${step}`]), settled(`c${step}`));
    turn.send(prepared());
    expect(turn.lines.slice(-2)).toEqual([`prepare ${MAX_STEPS}`, "end failed step_limit"]);
    expect(turn.lines.filter((line) => line.startsWith("ask"))).toHaveLength(MAX_STEPS);
  });
});

describe("a cancelled turn ends once as cancelled, without further effects,", () => {
  it.each<[string, readonly TurnEvent[], readonly TurnEvent[]]>([
    ["before its first step", [], [prepared()]],
    ["while the model replies", [prepared()], [says("late"), callsFor(["late"])]],
    ["while it waits for a retry", [prepared(), failing()], [waited]],
    ["while it summarizes", [prepared(), overflow], [compacted, fatal]],
    ["while it waits to retry a summary", [prepared(), overflow, failing()], [waited]],
    ["while tools run", [prepared(), callsFor(["a", "b", "c!"]), settled("b")], [settled("a"), settled("c!")]],
    ["between two steps", [prepared(), callsFor(["a"]), settled("a")], [prepared("late")]],
    ["before its last step", [prepared(), says("hi")], [prepared("late")]],
  ])("%s", (_, before, late) => {
    const turn = new MachinePlayer().sendAll(...before);
    const wanted = turn.lines.length;
    turn.sendAll(cancelled, ...late, cancelled);
    expect(turn.lines.slice(wanted)).toEqual(["end cancelled"]);
  });
});

describe("random event sequences", () => {
  const seeds = Array.from({ length: 300 }, (_, index) => index + 1);
  it("end the turn once, run and answer each call once in order, and never reuse an effect key", () => {
    const ends = new Set(seeds.map((seed) => playRandomTurn(seed)));
    expect([...ends].sort()).toEqual(
      expect.arrayContaining([
        "end cancelled",
        "end done",
        "end failed context_overflow",
        "end failed provider_failed",
      ]),
    );
  });
});

/** Answers each effect with a random possible event, in random order. Returns how the turn ended. */
function playRandomTurn(seed: number): string {
  const random = createRandom(seed);
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const turn = new MachinePlayer();
  const open = [...turn.effects];
  const keys = new Set<string>();
  const ran = new Map<string, number>();
  let calls = 0;
  const createRandomEvent = (effect: TurnEffect): TurnEvent => {
    if (random() < 0.005) return cancelled;
    switch (effect.type) {
      case "prepare_step":
        return random() < 0.2 ? prepared(pick("one", "two")) : prepared();
      case "wait":
        return waited;
      case "compact":
        return pick(compacted, compacted, failing(), fatal, overflow);
      case "run_tool":
        return settled(effect.call.toolId);
      case "call_model": {
        const ids = Array.from({ length: Math.floor(random() * 20) }, () => `c${(calls += 1)}${pick("", "", "!")}`);
        const tokens = pick(1, 500, NEARLY_ALL);
        return pick(
          callsFor([...ids, "last" + String((calls += 1))], tokens),
          says("hi", tokens),
          failing(5),
          overflow,
        );
      }
      case "end":
        throw new Error("an end has no outcome");
    }
  };
  for (let events = 0; turn.effects.at(-1)?.type !== "end"; events += 1) {
    expect(open.length, `seed ${seed}: no effect is running`).toBeGreaterThan(0);
    expect(events).toBeLessThan(50_000);
    const [effect] = open.splice(Math.floor(random() * open.length), 1);
    const next = turn.send(createRandomEvent(effect!));
    for (const started of next) {
      const key = formatEffectKey(started);
      expect(keys.has(key), `seed ${seed}: ${key} twice`).toBe(false);
      keys.add(key);
      if (started.type === "run_tool") ran.set(started.call.toolId, (ran.get(started.call.toolId) ?? 0) + 1);
      if (started.type === "call_model") expectPaired(started.messages);
    }
    open.push(...next);
    const running = open.flatMap((one) => (one.type === "run_tool" ? one.call.toolId : []));
    expect(running.length).toBeLessThanOrEqual(MAX_CONCURRENT_CALLS);
    if (running.some((id) => id.endsWith("!"))) expect(running).toHaveLength(1);
  }
  expect([...ran.values()].every((times) => times === 1)).toBe(true);
  expect(turn.lines.filter((line) => line.startsWith("end"))).toHaveLength(1);
  turn.sendAll(...open.filter(({ type }) => type !== "end").map(createRandomEvent), cancelled);
  expect(turn.lines.filter((line) => line.startsWith("end"))).toHaveLength(1);
  return turn.lines.find((line) => line.startsWith("end"))!;
}

function formatEffectKey(effect: TurnEffect): string {
  switch (effect.type) {
    case "prepare_step":
      return `${effect.step} input`;
    case "call_model":
    case "compact":
      return `${effect.step} model ${effect.id}`;
    case "wait":
      return `${effect.step} sleep ${effect.id}`;
    case "run_tool":
      return `${effect.step} tool ${effect.call.toolId}`;
    case "end":
      return "end";
  }
}

function getCallId(effect: TurnEffect): string {
  return effect.type === "run_tool" ? effect.call.toolId : "";
}

function preparedToStop(stop: TurnOutcome): TurnEvent {
  return { type: "step_prepared", inputs: [], stop };
}

function truncateReply(event: TurnEvent): TurnEvent {
  return event.type === "model_replied" ? { ...event, reply: { ...event.reply, stopReason: "length" } } : event;
}
