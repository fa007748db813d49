import { expect, it } from "vitest";
import { formatStatusLine } from "./status-line.ts";

const FACTS = [
  { text: "claude", priority: 9 },
  { text: "a-model", priority: 5 },
  { text: "", priority: 8 },
  { text: "main", priority: 3 },
  { text: "1,234 tokens", priority: 1 },
];

it.each([
  [60, "claude · ~/code/client/project · a-model · main"],
  [40, "claude · …/project · a-model · main"],
  [32, "claude · a-model · main"],
])("shows short forms in %i columns before it leaves out a fact", (width, expected) => {
  const directory = { text: "~/code/client/project", short: "…/project", priority: 2 };
  const [agent, ...rest] = FACTS.slice(0, 4);
  expect(
    formatStatusLine(
      [agent, directory, ...rest].filter((fact) => fact !== undefined),
      width,
    ),
  ).toBe(expected);
});

it.each([
  [80, "claude · a-model · main · 1,234 tokens"],
  [30, "claude · a-model · main"],
  [20, "claude · a-model"],
  [10, "claude"],
  [4, "cla…"],
])("fits %i columns", (width, expected) => {
  expect(formatStatusLine(FACTS, width)).toBe(expected);
});
