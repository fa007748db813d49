import { expect, it } from "vitest";
import { formatAge, formatBytes, formatColumns, formatCount, formatDuration, formatUsd } from "./format.ts";
import { toSingleLine, stripControls, escapeInvisible } from "./sanitize.ts";

it.each([
  [formatCount(0), "0"],
  [formatCount(999), "999"],
  [formatCount(1234567), "1,234,567"],
  [formatUsd(0), "$0.0000"],
  [formatUsd(0.00123), "$0.0012"],
  [formatUsd(12.345), "$12.35"],
  [formatDuration(0), "0.0s"],
  [formatDuration(59_940), "59.9s"],
  [formatDuration(61_000), "1m 1s"],
  [formatDuration(3_700_000), "1h 1m"],
  [formatBytes(999), "999 B"],
  [formatBytes(1_500), "1.5 kB"],
  [formatBytes(2_000_000_000), "2.0 GB"],
  [formatAge("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:10Z")), "just now"],
  [formatAge("2026-01-01T00:00:00Z", Date.parse("2026-01-01T02:10:00Z")), "2h ago"],
  [formatAge("2026-01-01T00:00:00Z", Date.parse("2026-01-04T00:00:00Z")), "3d ago"],
  [
    formatColumns([
      ["a", "bb"],
      ["ccc", "d"],
    ]),
    "a    bb\nccc  d\n",
  ],
])("formats %j as %j", (text, expected) => {
  expect(text).toBe(expected);
});

it.each([
  ["plain\ttext\n", "plain\ttext\n"],
  ["\u001b[2J\u0007\u0000\u007f\u009b", "[2J"],
  ["line\r\nend\r", "line\nend"],
  ["right\u202eto left", "rightto left"],
  ["ünïcödé ✓ 🐦", "ünïcödé ✓ 🐦"],
])("prints %j as %j", (text, expected) => {
  expect(stripControls(text)).toBe(expected);
});

it("joins lines and truncates them", () => {
  expect(toSingleLine(" a\n b\t c ")).toBe("a b c");
  expect(toSingleLine("abcdef", 4)).toBe("abc…");
});

it("shows control characters as code points in text that a person decides on", () => {
  expect(escapeInvisible("a\tb\n\u001b[0m\u00ad\u{e0041} ünï 🐦")).toBe(
    "a\tb<U+000A><U+001B>[0m<U+00AD><U+E0041> ünï 🐦",
  );
});
