/** Diffs as a person reads them. */
import { describe, expect, it } from "vitest";
import type { FileDiff } from "../../domain/events.ts";
import { displayWidth } from "../display-width.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { foldLines } from "./fold.ts";
import { formatDiff, formatDiffs } from "./format-diff.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const plain = (before: string | null, after: string | null, more: Partial<FileDiff> = {}, columns?: number): string[] =>
  formatDiff({ path: "a.txt", before, after, ...more }, { paint: plainPaint, columns });

describe("formatDiff", () => {
  it("shows the changed line of a file of 200 lines with three lines of context and line numbers", () => {
    const lines = numbered(200);
    expect(plain(joined(lines), joined(lines.with(99, "changed")))).toEqual([
      "  a.txt +1 -1",
      "   97   line 97",
      "   98   line 98",
      "   99   line 99",
      "  100 - line 100",
      "  100 + changed",
      "  101   line 101",
      "  102   line 102",
      "  103   line 103",
    ]);
  });

  it("numbers old lines as they were and new lines as they become, and separates hunks", () => {
    const lines = numbered(20);
    const after = ["first", ...lines.slice(0, 14), ...lines.slice(15)];
    expect(plain(joined(lines), joined(after))).toEqual([
      "  a.txt +1 -1",
      "   1 + first",
      "   2   line 1",
      "   3   line 2",
      "   4   line 3",
      "   ⋯",
      "  13   line 12",
      "  14   line 13",
      "  15   line 14",
      "  15 - line 15",
      "  16   line 16",
      "  17   line 17",
      "  18   line 18",
    ]);
  });

  it.each<[string, string[], string[]]>([
    ["a new file", plain(null, "one\ntwo\n"), ["  a.txt new file +2", "  1 + one", "  2 + two"]],
    ["a new empty file", plain(null, ""), ["  a.txt new file empty"]],
    ["a deleted file", plain("one\n", null), ["  a.txt deleted -1", "  1 - one"]],
    ["a file that does not change", plain("one\n", "one\n"), ["  a.txt the text is unchanged"]],
    ["a binary file", plain("a\0b", "c"), ["  a.txt binary file"]],
    [
      "a lost line break at the end",
      plain("one\n", "one"),
      ["  a.txt +1 -1", "  1 - one", "  1 + one", "      \\ no line break at the end"].map((line) =>
        line.replace(/^ {6}\\/, "    \\"),
      ),
    ],
    [
      "an excerpt, with the line numbers of the file",
      plain("one\n", "two\n", { line: 99 }),
      ["  a.txt +1 -1", "  99 - one", "  99 + two"],
    ],
    [
      "a passage without line numbers if its place is not known",
      plain("one", "two", { truncated: true }).filter((line) => !line.includes("\\")),
      ["  a.txt +1 -1", "  - one", "  + two", "  ! part of the change is not shown here"],
    ],
    [
      "a write whose old text is not known",
      plain(null, "two\n", { truncated: true }),
      ["  a.txt +1", "  1 + two", "  ! the old text is not known"],
    ],
    ["an unknown change", plain(null, null, { truncated: true }), ["  a.txt the change is too long or not known"]],
    [
      "no CR of a file with CRLF",
      plain("a\r\nb\r\n", "a\r\nc\r\n"),
      ["  a.txt +1 -1", "  1   a", "  2 - b", "  2 + c"],
    ],
    ["a change of line breaks", plain("a\r\n", "a\n"), ["  a.txt +1 -1", "  1 - a<U+000D>", "  1 + a"]],
    [
      "tabs, and spaces at the end of changed lines",
      plain("\tx\n\ty\n", "\tx\n    y  \n"),
      ["  a.txt +1 -1", "  1       x", "  2 - →   y", "  2 +     y··"],
    ],
  ])("shows %s", (_, lines, expected) => {
    expect(lines).toEqual(expected);
  });

  it("shows control, bidi and zero-width characters as code points, also in file names", () => {
    const diff = { path: "a\u001b[2J\u202etxt", before: null, after: "\u001b[31mred\u202e\u200b\u009b\r\n" };
    const text = formatDiff(diff, { paint: plainPaint }).join("\n");
    expect(text).toContain("a<U+001B>[2J<U+202E>txt new file");
    expect(text).toContain("+ <U+001B>[31mred<U+202E><U+200B><U+009B>");
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
  });

  it.each([20, 60, 80])("wraps wide characters at %i columns and omits nothing", (columns) => {
    const text = "日本語テキスト🦆👩‍💻".repeat(12);
    const lines = plain(null, `${text}\n`, {}, columns);
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(columns);
    const shown = lines
      .slice(1)
      .map((line) => line.slice("  1 + ".length))
      .join("");
    expect(shown).toBe(text.replaceAll("\u200d", "<U+200D>"));
  });

  it("colors lines and keeps the colors within each line", () => {
    const lines = formatDiff(
      { path: "a", before: "one\n", after: `${"two ".repeat(30)}\n` },
      { paint: ansiPaint, columns: 60 },
    );
    expect(lines[1]).toBe("  \u001b[2m1\u001b[22m \u001b[31m- one\u001b[39m");
    expect(lines.slice(2)).toHaveLength(3);
    for (const line of lines.slice(2)) expect(line).toMatch(/\u001b\[32m[^\u001b]+\u001b\[39m$/);
  });

  it("formats long repetitive texts and long lines completely", () => {
    const repeated = (line: string) => `${line}\n`.repeat(3_000);
    expect(plain(repeated("a"), `${repeated("a").slice(2)}b\n`)).toHaveLength(6);
    expect(plain(repeated("a"), repeated("b"))).toHaveLength(6_001);
    expect(plain(null, `${"e\u0301".repeat(3_000)}\n`, {}, 16)).toHaveLength(301);
  });
});

it("names a file once for its hunks, and every file", () => {
  const diffs = [
    { path: "a", before: "1\n", after: "2\n", line: 5 },
    { path: "a", before: "3\n", after: "4\n", line: 9 },
    { path: "b", before: null, after: "" },
  ];
  expect(formatDiffs(diffs, { paint: plainPaint })).toEqual([
    "  a +1 -1",
    "  5 - 1",
    "  5 + 2",
    "  9 - 3",
    "  9 + 4",
    "  b new file empty",
  ]);
});

it.each([
  [40, 40, undefined],
  [41, 41, undefined],
  [160, 41, "  … 120 more lines; d opens them in less -R"],
])("folds %i lines to %i", (count, length, last) => {
  const folded = foldLines(numbered(count), { hint: "d opens them in less -R" });
  expect([folded.length, last === undefined ? last : folded.at(-1)]).toEqual([length, last]);
});
