import { expect, it } from "vitest";
import { age, bytes, columns, count, duration, usd } from "./format.ts";
import { oneLine, printable, visible } from "./printable.ts";

it.each([
  [count(0), "0"],
  [count(999), "999"],
  [count(1234567), "1,234,567"],
  [usd(0), "$0.0000"],
  [usd(0.00123), "$0.0012"],
  [usd(12.345), "$12.35"],
  [duration(0), "0.0s"],
  [duration(59_940), "59.9s"],
  [duration(61_000), "1m 1s"],
  [duration(3_700_000), "1h 1m"],
  [bytes(999), "999 B"],
  [bytes(1_500), "1.5 kB"],
  [bytes(2_000_000_000), "2.0 GB"],
  [age("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:10Z")), "just now"],
  [age("2026-01-01T00:00:00Z", Date.parse("2026-01-01T02:10:00Z")), "2h ago"],
  [age("2026-01-01T00:00:00Z", Date.parse("2026-01-04T00:00:00Z")), "3d ago"],
  [
    columns([
      ["a", "bb"],
      ["ccc", "d"],
    ]),
    "a    bb\nccc  d\n",
  ],
])("%j is what people read: %j", (text, expected) => {
  expect(text).toBe(expected);
});

it.each([
  ["plain\ttext\n", "plain\ttext\n"],
  ["\u001b[2J\u0007\u0000\u007f\u009b", "[2J"],
  ["line\r\nend\r", "line\nend"],
  ["right\u202eto left", "rightto left"],
  ["ünïcödé ✓ 🐦", "ünïcödé ✓ 🐦"],
])("%j is shown as %j", (text, expected) => {
  expect(printable(text)).toBe(expected);
});

it("a line is one line, of a length", () => {
  expect(oneLine(" a\n b\t c ")).toBe("a b c");
  expect(oneLine("abcdef", 4)).toBe("abc…");
});

it("what a person decides on keeps its control characters, as names", () => {
  expect(visible("a\tb\n\u001b[0m\u00ad\u{e0041} ünï 🐦")).toBe("a\tb<U+000A><U+001B>[0m<U+00AD><U+E0041> ünï 🐦");
});
