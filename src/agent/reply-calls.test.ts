import { describe, expect, it } from "vitest";
import {
  MAX_CONCURRENT_CALLS,
  getAnswersInOrder,
  emptyReplyCalls,
  recordAnswer,
  startReadyCalls,
  type ReplyCallsState,
} from "./reply-calls.ts";

/** A call whose id ends with `!` must run alone. */
function createCalls(...ids: string[]): ReplyCallsState {
  const calls = ids.map((toolId) => ({ toolId, name: "t", input: {}, concurrent: !toolId.endsWith("!") }));
  return { ...emptyReplyCalls(), requested: calls };
}

function settle(state: ReplyCallsState, ...ids: string[]): ReplyCallsState {
  return ids.reduce((calls, toolId) => recordAnswer(calls, { toolId, name: "t", text: toolId, failed: false }), state);
}

const started = (state: ReplyCallsState): string[] => startReadyCalls(state).started.map(({ toolId }) => toolId);

describe("the calls of one reply", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["start together if they are concurrent", ["a", "b"], ["a", "b"]],
    ["start up to the first one that must run alone", ["a", "b!", "c"], ["a"]],
    ["start only the first one if it must run alone", ["a!", "b"], ["a!"]],
    ["may be empty", [], []],
    ["start up to the limit", "abcdefghijkl".split(""), "abcdefghijkl".split("").slice(0, MAX_CONCURRENT_CALLS)],
  ])("%s", (_, ids, begun) => {
    expect(started(createCalls(...ids))).toEqual(begun);
  });

  it("start only once", () => {
    const { calls } = startReadyCalls(createCalls("a", "b"));
    expect(started(calls)).toEqual([]);
    expect(started(settle(calls, "b"))).toEqual([]);
  });

  it("start one that must run alone only after all earlier ones have ended", () => {
    const { calls } = startReadyCalls(createCalls("a", "b", "c!"));
    expect(started(settle(calls, "b"))).toEqual([]);
    expect(started(settle(calls, "b", "a"))).toEqual(["c!"]);
  });

  it("start another one when one ends", () => {
    const ids = Array.from({ length: MAX_CONCURRENT_CALLS + 2 }, (_, index) => `c${index}`);
    const { calls } = startReadyCalls(createCalls(...ids));
    expect(started(settle(calls, "c3"))).toEqual([ids[MAX_CONCURRENT_CALLS]]);
  });

  it("return their answers in order, once all of them are answered", () => {
    const state = createCalls("a", "b", "c");
    expect(getAnswersInOrder(settle(state, "c", "a"))).toBeUndefined();
    expect(getAnswersInOrder(settle(state, "c", "a", "b"))?.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  });

  it("run alone by default", () => {
    const state = {
      ...emptyReplyCalls(),
      requested: [1, 2].map((number) => ({ toolId: `${number}`, name: "t", input: {} })),
    };
    expect(started(state)).toEqual(["1"]);
  });
});
