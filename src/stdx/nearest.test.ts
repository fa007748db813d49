import { expect, it } from "vitest";
import { didYouMean, editDistance, nearest } from "./nearest.ts";

it.each([
  ["", "", 0],
  ["model", "model", 0],
  ["modle", "model", 1],
  ["mdel", "model", 1],
  ["models", "model", 1],
  ["kitten", "sitting", 3],
  ["", "abc", 3],
])("the edit distance of %j and %j is %i", (a, b, expected) => {
  expect(editDistance(a, b)).toBe(expected);
  expect(editDistance(b, a)).toBe(expected);
});

it.each([
  ["permisions", ["prompts", "permissions", "model"], "permissions"],
  ["--jsno", ["--agent", "--json"], "--json"],
  ["AGENT", ["agent"], "agent"],
  ["zzzzz", ["agent", "model"], undefined],
  ["version", ["sessions", "run"], undefined],
  ["--yolo", ["--help", "--model"], undefined],
  ["claude-agent-acp", ["claude-acp", "goose"], "claude-acp"],
  ["x".repeat(1_000_000), ["agent"], undefined],
  ["agent", [], undefined],
])("the nearest name to %.20s in %j is %s", (typed, known, expected) => {
  expect(nearest(typed, known)).toBe(expected);
});

it("suggests a name only if one is close", () => {
  expect(didYouMean("modle", ["model"], (name) => `"${name}"`)).toBe(' (did you mean "model"?)');
  expect(didYouMean("qqq", ["model"])).toBe("");
});
