import { describe, expect, it } from "vitest";
import { MOST_AT_ONCE, answersInOrder, noCalls, settleCall, startable, type CallsState } from "./calls.ts";

/** One whose id ends with `!` runs alone. */
function asked(...ids: string[]): CallsState {
  const calls = ids.map((toolId) => ({ toolId, name: "t", input: {}, concurrent: !toolId.endsWith("!") }));
  return { ...noCalls(), asked: calls };
}

function settle(state: CallsState, ...ids: string[]): CallsState {
  return ids.reduce((so, toolId) => settleCall(so, { toolId, name: "t", text: toolId, failed: false }), state);
}

const started = (state: CallsState): string[] => startable(state).begun.map(({ toolId }) => toolId);

describe("the calls of one reply", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["that only read begin together", ["a", "b"], ["a", "b"]],
    ["begin before one that runs alone", ["a", "b!", "c"], ["a"]],
    ["begin with one that runs alone", ["a!", "b"], ["a!"]],
    ["are none", [], []],
    ["begin as many as may", "abcdefghijkl".split(""), "abcdefghijkl".split("").slice(0, MOST_AT_ONCE)],
  ])("%s", (_, ids, begun) => {
    expect(started(asked(...ids))).toEqual(begun);
  });

  it("begin none twice", () => {
    const { calls } = startable(asked("a", "b"));
    expect(started(calls)).toEqual([]);
    expect(started(settle(calls, "b"))).toEqual([]);
  });

  it("let one that runs alone begin when all before it are over, and not sooner", () => {
    const { calls } = startable(asked("a", "b", "c!"));
    expect(started(settle(calls, "b"))).toEqual([]);
    expect(started(settle(calls, "b", "a"))).toEqual(["c!"]);
  });

  it("fill the place of one that is over", () => {
    const ids = Array.from({ length: MOST_AT_ONCE + 2 }, (_, index) => `c${index}`);
    const { calls } = startable(asked(...ids));
    expect(started(settle(calls, "c3"))).toEqual([ids[MOST_AT_ONCE]]);
  });

  it("have answers in the order asked, and none until all are there", () => {
    const state = asked("a", "b", "c");
    expect(answersInOrder(settle(state, "c", "a"))).toBeUndefined();
    expect(answersInOrder(settle(state, "c", "a", "b"))?.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  });

  it("of which nothing is known run alone", () => {
    const state = { ...noCalls(), asked: [1, 2].map((number) => ({ toolId: `${number}`, name: "t", input: {} })) };
    expect(started(state)).toEqual(["1"]);
  });
});
