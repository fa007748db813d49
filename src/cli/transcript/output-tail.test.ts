import { expect, it } from "vitest";
import { addOutput, formatTail } from "./output-tail.ts";

it.each<[string, string, string[]]>([
  ["the last five lines", "1\n2\n3\n4\n5\n6\n7\n", ["3", "4", "5", "6", "7"]],
  ["a line that is not complete yet", "one\ntw", ["one", "tw"]],
  ["no empty lines", "one\n\n\n  \ntwo\n", ["one", "two"]],
  ["the last state of a progress bar", "10%\r50%\r\n90%\r", ["50%", "90%"]],
  ["no colors, titles and cursor movements", "\u001b[1;32mok\u001b[0m\u001b]0;title\u0007\u001b[2A!\u001b(B", ["ok!"]],
  ["no unfinished sequence", "ok\u001b[3", ["ok"]],
  ["no control, bidi and zero-width characters", "a\u0008\u202e\u200bb\u009b", ["ab"]],
  ["tabs as spaces", "a\tb", ["a    b"]],
  ["wide characters within the width", "日本語日本語日本語日本語", ["日本語日本語日本語…"]],
])("shows %s", (_, output, lines) => {
  expect(formatTail(output, 20)).toEqual(lines);
});

it("keeps a bounded part of the output", () => {
  const tail = addOutput(addOutput("", "x".repeat(1e6)), "\nend");
  expect([tail.length, formatTail(tail, 10).at(-1)]).toEqual([4_000, "end"]);
});

it("shows nothing if there is no room", () => {
  expect(formatTail("one\n", 20, 0)).toEqual([]);
});
