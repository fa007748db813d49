import { describe, expect, it } from "vitest";
import type { TurnOutcome } from "../domain/index.ts";
import { MOST_AT_ONCE } from "./calls.ts";
import { STEP_LIMIT, type TurnEffect, type TurnEvent } from "./machine.ts";
import {
  callsFor,
  cancelled,
  compacted,
  expectPaired,
  failing,
  fatal,
  overflow,
  Played,
  prepared,
  randomOf,
  rested,
  says,
  settled,
} from "./test-machine.ts";

/** Of `contextSize` 1,000. */
const NEARLY_ALL = 900;

describe("a turn", () => {
  it.each<[string, readonly TurnEvent[], readonly string[]]>([
    [
      "asks, and ends with what the model says",
      [prepared(), says("hi"), prepared()],
      ["prepare 0", "ask 0 reply: go", "prepare 1 or end", "end done"],
    ],
    [
      "runs calls beside one another, and tells their results in the order asked",
      [prepared(), callsFor(["a", "b", "c"]), settled("c"), settled("a"), settled("b"), prepared()],
      ["prepare 0", "ask 0 reply: go", "run a", "run b", "run c", "prepare 1", "ask 1 reply: go, calls, [a b c]"],
    ],
    [
      "runs what changes something alone: after all before it, and before all behind it",
      [prepared(), callsFor(["a", "b", "c!", "d!", "e"]), ...["b", "a", "c!", "d!"].map(settled)],
      ["prepare 0", "ask 0 reply: go", "run a", "run b", "run c!", "run d!", "run e"],
    ],
    [
      "tries again after a rest that doubles, or as long as the provider said, and so many times",
      [prepared(), failing(), rested, failing(700), rested, failing()],
      [
        "prepare 0",
        "ask 0 reply: go",
        "rest try.1 100 ms, then 1 of 2",
        "ask 0 reply.1: go",
        "rest try.2 700 ms, then 2 of 2",
        "ask 0 reply.2: go",
        "end failed provider_failed",
      ],
    ],
    [
      "has all its tries again in the next step",
      [prepared(), failing(), rested, callsFor(["a"]), settled("a"), prepared(), failing(3)],
      [
        "prepare 0",
        "ask 0 reply: go",
        "rest try.1 100 ms, then 1 of 2",
        "ask 0 reply.1: go",
        "run a",
        "prepare 1",
        "ask 1 reply: go, calls, [a]",
        "rest try.1 100 ms, then 1 of 2",
      ],
    ],
    [
      "rests no longer than a minute",
      [prepared(), failing(3_600_000)],
      ["prepare 0", "ask 0 reply: go", "rest try.1 60000 ms, then 1 of 2"],
    ],
    [
      "fails at once where another try is not worth it",
      [prepared(), fatal],
      ["prepare 0", "ask 0 reply: go", "end failed provider_auth"],
    ],
    [
      "summarizes what is refused as too long, and asks once more",
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
      "fails where the summary is refused as too long as well",
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
      "fails where what is too long cannot be summarized",
      [prepared(), overflow, fatal],
      ["prepare 0", "ask 0 reply: go", "summarize 0 summary.1", "end failed context_overflow"],
    ],
    [
      "gives less to be summarized while what it gives is too long, and fails in the end",
      [prepared(), ...Array.from({ length: 7 }, () => overflow)],
      [
        "prepare 0",
        "ask 0 reply: go",
        "summarize 0 summary.1",
        ...[1, 2, 3, 4, 5].map((times) => `summarize 0 summary.${times + 1} shrunk ${times}`),
        "end failed context_overflow",
      ],
    ],
    [
      "tries the summary again too",
      [prepared(), overflow, failing(), rested, compacted],
      [
        "prepare 0",
        "ask 0 reply: go",
        "summarize 0 summary.1",
        "rest try.2 100 ms, then 1 of 2",
        "summarize 0 summary.2",
        "ask 0 reply.2: summary+go",
      ],
    ],
    [
      "summarizes before the limit, between two steps",
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
      "summarizes no more by itself where a summary left it as full, but where it is refused",
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
      "goes on with all of it where it is nearly full and cannot be summarized",
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
      "hears what was said before its first step, and between two",
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
      "does not end while something that was said waits",
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
      "keeps what was said meanwhile, and not answered, beside the summary",
      [prepared(), callsFor(["a"], NEARLY_ALL), settled("a"), prepared("wait"), compacted],
      ["prepare 0", "ask 0 reply: go", "run a", "prepare 1", "summarize 1 summary", "ask 1 reply: summary+go, wait"],
    ],
    [
      "gives nothing back of a reply without content",
      [prepared(), says("  "), prepared("and?"), says("hi"), prepared()],
      ["prepare 0", "ask 0 reply: go", "prepare 1 or end", "ask 1 reply: go, and?", "prepare 2 or end", "end done"],
    ],
    [
      "runs no call of a reply that was cut off",
      [prepared(), cutOff(callsFor(["a"]))],
      ["prepare 0", "ask 0 reply: go", "end failed reply_truncated"],
    ],
    [
      "stops where it is told to before a step",
      [prepared(), callsFor(["a"]), settled("a"), stopping({ status: "failed", code: "over", message: "" })],
      ["prepare 0", "ask 0 reply: go", "run a", "prepare 1", "end failed over"],
    ],
    [
      "is done where it is told to stop before a step that it does not need",
      [prepared(), says("hi"), stopping({ status: "failed", code: "over", message: "" })],
      ["prepare 0", "ask 0 reply: go", "prepare 1 or end", "end done"],
    ],
  ])("%s", (_, events, lines) => {
    expect(new Played().tellAll(...events).lines).toEqual(lines);
  });

  it("summarizes before its first step where the conversation before it was nearly full", () => {
    const turn = new Played({}, { tokens: NEARLY_ALL, messages: 1 }).tellAll(prepared(), compacted);
    expect(turn.lines).toEqual(["prepare 0", "summarize 0 summary", "ask 0 reply: summary+go"]);
  });

  it("never summarizes by itself where nobody knows the size of the context", () => {
    const turn = new Played({ contextSize: undefined }, { tokens: 1e9, messages: 1 }).tellAll(prepared());
    expect(turn.lines).toEqual(["prepare 0", "ask 0 reply: go"]);
  });

  it("begins a step as it began before a crash, however large the context is now", () => {
    const begun = (how: "reply" | "summary"): TurnEvent => ({ type: "step_prepared", inputs: [], begun: how });
    const full = { tokens: NEARLY_ALL, messages: 1 };
    expect(new Played({}, full).tellAll(begun("reply")).lines).toEqual(["prepare 0", "ask 0 reply: go"]);
    const roomy = new Played({ contextSize: undefined }, full).tellAll(begun("summary"));
    expect(roomy.lines).toEqual(["prepare 0", "summarize 0 summary"]);
  });

  it("runs 200 calls of one reply, 8 at once, and tells all results in order", () => {
    const ids = Array.from({ length: 200 }, (_, index) => `c${index}`);
    const turn = new Played().tellAll(prepared());
    const running = turn.tell(callsFor(ids)).map(calledBy);
    expect(running).toEqual(ids.slice(0, MOST_AT_ONCE));
    while (running.length > 0) {
      const next = running.splice(running.length > 3 ? 3 : 0, 1)[0]!; // not in order
      running.push(
        ...turn
          .tell(settled(next))
          .map(calledBy)
          .filter((id) => id !== ""),
      );
      expect(running.length).toBeLessThanOrEqual(MOST_AT_ONCE);
    }
    turn.tell(prepared());
    expect(turn.lines.at(-1)).toBe(`ask 1 reply: go, calls, [${ids.join(" ")}]`);
  });

  it("is stopped where the model asks for tools for ever", () => {
    const turn = new Played({ contextSize: undefined });
    for (let step = 0; step < STEP_LIMIT; step += 1)
      turn.tellAll(prepared(), callsFor([`c${step}`]), settled(`c${step}`));
    turn.tell(prepared());
    expect(turn.lines.slice(-2)).toEqual([`prepare ${STEP_LIMIT}`, "end failed step_limit"]);
    expect(turn.lines.filter((line) => line.startsWith("ask"))).toHaveLength(STEP_LIMIT);
  });
});

describe("a turn that is cancelled ends so, once, and wants nothing more", () => {
  it.each<[string, readonly TurnEvent[], readonly TurnEvent[]]>([
    ["before its first step", [], [prepared()]],
    ["while the model answers", [prepared()], [says("late"), callsFor(["late"])]],
    ["while it rests", [prepared(), failing()], [rested]],
    ["while it summarizes", [prepared(), overflow], [compacted, fatal]],
    ["while it rests before a summary", [prepared(), overflow, failing()], [rested]],
    ["while tools run", [prepared(), callsFor(["a", "b", "c!"]), settled("b")], [settled("a"), settled("c!")]],
    ["between two steps", [prepared(), callsFor(["a"]), settled("a")], [prepared("late")]],
    ["when it was about to end", [prepared(), says("hi")], [prepared("late")]],
  ])("%s", (_, before, late) => {
    const turn = new Played().tellAll(...before);
    const wanted = turn.lines.length;
    turn.tellAll(cancelled, ...late, cancelled);
    expect(turn.lines.slice(wanted)).toEqual(["end cancelled"]);
  });
});

describe("whatever happens", () => {
  const seeds = Array.from({ length: 300 }, (_, index) => index + 1);
  it("a turn ends once, each call runs once and is answered in order, and no two effects have the same key", () => {
    const ends = new Set(seeds.map((seed) => wander(seed)));
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

/** Answers whatever the machine wants with whatever can come of it, in any order; resolves with how it ended. */
function wander(seed: number): string {
  const random = randomOf(seed);
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const turn = new Played();
  const open = [...turn.effects];
  const keys = new Set<string>();
  const ran = new Map<string, number>();
  let calls = 0;
  const outcomeOf = (effect: TurnEffect): TurnEvent => {
    if (random() < 0.005) return cancelled;
    switch (effect.type) {
      case "prepare_step":
        return random() < 0.2 ? prepared(pick("one", "two")) : prepared();
      case "rest":
        return rested;
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
    expect(open.length, `seed ${seed}: it waits for nothing`).toBeGreaterThan(0);
    expect(events).toBeLessThan(50_000);
    const [effect] = open.splice(Math.floor(random() * open.length), 1);
    const next = turn.tell(outcomeOf(effect!));
    for (const wanted of next) {
      const key = keyOf(wanted);
      expect(keys.has(key), `seed ${seed}: ${key} twice`).toBe(false);
      keys.add(key);
      if (wanted.type === "run_tool") ran.set(wanted.call.toolId, (ran.get(wanted.call.toolId) ?? 0) + 1);
      if (wanted.type === "call_model") expectPaired(wanted.messages);
    }
    open.push(...next);
    const running = open.flatMap((one) => (one.type === "run_tool" ? one.call.toolId : []));
    expect(running.length).toBeLessThanOrEqual(MOST_AT_ONCE);
    if (running.some((id) => id.endsWith("!"))) expect(running).toHaveLength(1);
  }
  expect([...ran.values()].every((times) => times === 1)).toBe(true);
  expect(turn.lines.filter((line) => line.startsWith("end"))).toHaveLength(1);
  turn.tellAll(...open.filter(({ type }) => type !== "end").map(outcomeOf), cancelled);
  expect(turn.lines.filter((line) => line.startsWith("end"))).toHaveLength(1);
  return turn.lines.find((line) => line.startsWith("end"))!;
}

function keyOf(effect: TurnEffect): string {
  switch (effect.type) {
    case "prepare_step":
      return `${effect.step} input`;
    case "call_model":
    case "compact":
      return `${effect.step} model ${effect.id}`;
    case "rest":
      return `${effect.step} sleep ${effect.id}`;
    case "run_tool":
      return `${effect.step} tool ${effect.call.toolId}`;
    case "end":
      return "end";
  }
}

function calledBy(effect: TurnEffect): string {
  return effect.type === "run_tool" ? effect.call.toolId : "";
}

function stopping(stop: TurnOutcome): TurnEvent {
  return { type: "step_prepared", inputs: [], stop };
}

function cutOff(event: TurnEvent): TurnEvent {
  return event.type === "model_replied" ? { ...event, reply: { ...event.reply, stopReason: "length" } } : event;
}
