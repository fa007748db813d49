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
  [80, "claude · a-model · main · 1,234 tokens"],
  [30, "claude · a-model · main"],
  [20, "claude · a-model"],
  [10, "claude"],
  [4, "cla…"],
])("fits %i columns", (width, expected) => {
  expect(formatStatusLine(FACTS, width)).toBe(expected);
});
