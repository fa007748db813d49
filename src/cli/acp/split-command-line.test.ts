import { expect, it } from "vitest";
import { splitCommandLine } from "./split-command-line.ts";

it.each([
  ["a b", ["a", "b"]],
  ["  a \t b\n", ["a", "b"]],
  ["a 'b c' d", ["a", "b c", "d"]],
  [`a "b 'c' d"`, ["a", "b 'c' d"]],
  [`a 'b "c" \\'`, ["a", 'b "c" \\']],
  [`a "b \\" \\\\ \\n"`, ["a", 'b " \\ \\n']],
  [`a b\\ c`, ["a", "b c"]],
  [`a --x='y z'w`, ["a", "--x=y zw"]],
  [`a ''`, ["a", ""]],
  ["a $HOME *", ["a", "$HOME", "*"]],
])("splits %j into %j", (text, words) => {
  expect(splitCommandLine(text)).toEqual(words);
});

it.each(["a 'b", 'a "b', "a \\", "", "  ", "''"])("rejects %j", (text) => {
  expect(() => splitCommandLine(text)).toThrow(expect.objectContaining({ code: "usage" }));
});
