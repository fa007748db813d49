import { describe, expect, it } from "vitest";
import type { CommandSpec } from "./command.ts";
import { PROGRAM } from "./commands.ts";
import { formatColumns } from "./format.ts";
import { formatHelp } from "./help.ts";
import { printNotice } from "./io.ts";
import { collectingIo } from "./test-io.ts";
import { styledWidth } from "./display-width.ts";
import { wrapText } from "./wrap.ts";

describe("wrapText", () => {
  it.each<[string, string, number, string]>([
    ["breaks at spaces", "one two three four five six", 20, "one two three four\n  five six"],
    ["keeps a line that fits", "one two", 20, "one two"],
    ["keeps the spaces that start a line", "   one two three four five", 20, "   one two three\n     four five"],
    ["keeps columns apart", "a   one two three four five", 20, "a   one two three\n  four five"],
    [
      "does not break a command",
      'continue it with: rookery run "a b" --session k7m2q9xd; or rookery serve to go on',
      40,
      'continue it with:\n  rookery run "a b" --session k7m2q9xd;\n  or rookery serve to go on',
    ],
    [
      "does not break quoted code",
      "use `git commit --amend` or another",
      22,
      "use\n  `git commit --amend`\n  or another",
    ],
    [
      "leaves a long word to the terminal",
      "see /a/very/long/path/to/a/file now",
      20,
      "see\n  /a/very/long/path/to/a/file\n  now",
    ],
    ["counts wide characters twice", "日本 語日 本語 日本 語日", 20, "日本 語日 本語 日本\n  語日"],
    [
      "does not count colors",
      "\u001b[1mone two three four\u001b[22m five",
      20,
      "\u001b[1mone two three four\u001b[22m\n  five",
    ],
  ])("%s", (_, text, width, expected) => {
    expect(wrapText(text, { width })).toBe(expected);
  });

  it("changes nothing without a terminal", () => {
    const text = "word ".repeat(100);
    expect(wrapText(text, { width: undefined })).toBe(text);
  });
});

it("wraps the last column below itself, or below the others on a narrow terminal", () => {
  const rows = [["status", "waits for a person who answers it"]];
  expect(formatColumns(rows, 36)).toBe("status  waits for a person who\n        answers it\n");
  expect(formatColumns(rows, 24)).toBe("status\n      waits for a person\n      who answers it\n");
});

it("wraps a notice on a terminal only", () => {
  const io = collectingIo("/");
  const line = "no process drives the session now; continue it with: rookery run --session k7m2q9xd";
  printNotice(io, line);
  Object.assign(io.stderr, { isTTY: true, columns: 60 });
  printNotice(io, line);
  expect(io.text()).toBe(
    `rookery: ${line}\nrookery: no process drives the session now; continue it\n  with: rookery run --session k7m2q9xd\n`,
  );
});

function allPaths(path: readonly CommandSpec[]): (readonly CommandSpec[])[] {
  return [path, ...(path.at(-1)?.commands ?? []).flatMap((command) => allPaths([...path, command]))];
}

describe.each([60, 80, 120, 200])("help at %i columns", (width) => {
  it.each(allPaths([PROGRAM]).map((path) => [path.map(({ name }) => name).join(" "), path] as const))(
    "%s",
    (_, path) => {
      const help = formatHelp(path, { width });
      const words = (text: string) => text.replaceAll(" \\\n", " ").split(/\s+/);
      expect(words(help)).toEqual(words(formatHelp(path)));
      expect(help.split("\n").filter((line) => styledWidth(line) > width)).toEqual([]);
      const [, examples = ""] = help.split("Examples:\n");
      const copied = examples.replaceAll(/ \\\n +/g, " ").split("\n"); // as a shell reads them
      expect(copied.map((line) => line.trim()).filter((line) => line !== "")).toEqual(path.at(-1)?.examples ?? []);
    },
  );
});
