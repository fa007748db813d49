/** Patches of the real git, as a person reads them. */
import { expect, it } from "vitest";
import { temporaryRepository } from "../../testing/index.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { formatPatch, formatPatchHeadings } from "./format-patch.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** The changes since the last commit, including new files. */
async function formatChanges(
  before: Record<string, string>,
  change: (repository: Awaited<ReturnType<typeof temporaryRepository>>) => Promise<unknown>,
): Promise<string[]> {
  await using repository = await temporaryRepository(before);
  await change(repository);
  await repository.git("add", "-A");
  const patch = await repository.git("-c", "core.quotePath=false", "diff", "-M", "HEAD");
  return formatPatch(patch, { paint: plainPaint });
}

it("shows a changed line with its number and three lines of context, and separates hunks", async () => {
  const lines = numbered(200);
  const after = lines.with(99, "changed").with(149, "changed too");
  const shown = await formatChanges({ "a.txt": joined(lines) }, (repository) =>
    repository.write("a.txt", joined(after)),
  );
  expect(shown).toEqual([
    "  a.txt +2 -2",
    "   97   line 97",
    "   98   line 98",
    "   99   line 99",
    "  100 - line 100",
    "  100 + changed",
    "  101   line 101",
    "  102   line 102",
    "  103   line 103",
    "    ⋯",
    "  147   line 147",
    "  148   line 148",
    "  149   line 149",
    "  150 - line 150",
    "  150 + changed too",
    "  151   line 151",
    "  152   line 152",
    "  153   line 153",
  ]);
});

it.each<[string, Record<string, string>, Record<string, string>, string[]]>([
  ["a new file", { "b.txt": "x\n" }, { "a.txt": "one\ntwo\n" }, ["  a.txt new file +2", "  1 + one", "  2 + two"]],
  ["a new empty file", {}, { "a.txt": "" }, ["  a.txt new file empty"]],
  [
    "a lost line break at the end",
    { "a.txt": "one\n" },
    { "a.txt": "one" },
    ["  a.txt +1 -1", "  1 - one", "  1 + one", "    \\ no line break at the end"],
  ],
  [
    "lines that look like headings",
    { "a.txt": "-- a/x\n@@ -1 +1 @@\n" },
    { "a.txt": "++ b/x\n@@ -1 +1 @@\n" },
    ["  a.txt +1 -1", "  1 - -- a/x", "  1 + ++ b/x", "  2   @@ -1 +1 @@"],
  ],
  ["a binary file", { "a.bin": "a\0b" }, { "a.bin": "a\0c" }, ["  a.bin binary file"]],
  [
    "no CR of a file with CRLF",
    { "a.txt": "a\r\nb\r\n" },
    { "a.txt": "a\r\nc\r\n" },
    ["  a.txt +1 -1", "  1   a", "  2 - b", "  2 + c"],
  ],
  [
    "a name with a space",
    { "my file.txt": "a\n" },
    { "my file.txt": "b\n" },
    ["  my file.txt +1 -1", "  1 - a", "  1 + b"],
  ],
  ["a name in another script", {}, { "日本.txt": "" }, ["  日本.txt new file empty"]],
  ["a name that git quotes", {}, { 'a"\tb\\.txt': "" }, ['  a" b\\.txt new file empty']],
  ["control characters", {}, { "a.txt": "\u001b[2J\n" }, ["  a.txt new file +1", "  1 + <U+001B>[2J"]],
])("shows %s", async (_, before, after, expected) => {
  const shown = await formatChanges({ "kept.txt": "kept\n", ...before }, async (repository) => {
    for (const [path, text] of Object.entries(after)) await repository.write(path, text);
  });
  expect(shown).toEqual(expected);
});

it("shows deleted and renamed files, and new modes", async () => {
  const files = { "a.txt": "one\n", "b.txt": joined(numbered(20)), "c.sh": "true\n" };
  const shown = await formatChanges(files, async (repository) => {
    await repository.git("rm", "a.txt");
    await repository.git("mv", "b.txt", "moved.txt");
    await repository.git("update-index", "--chmod=+x", "c.sh");
    await repository.git("config", "core.fileMode", "false");
  });
  expect(shown).toEqual(["  a.txt deleted -1", "  1 - one", "  c.sh now executable", "  moved.txt renamed from b.txt"]);
});

it("colors lines, wraps them, and shows the existing part of a patch that ends early", () => {
  const patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+0123456789abcdef";
  expect(formatPatch(patch, { paint: ansiPaint, columns: 16 })).toEqual([
    "  \u001b[1mx\u001b[22m \u001b[32m+1\u001b[39m \u001b[31m-1\u001b[39m",
    "  \u001b[2m1\u001b[22m \u001b[31m- a\u001b[39m",
    "  \u001b[2m1\u001b[22m \u001b[32m+ 0123456789\u001b[39m",
    "    \u001b[32m  abcdef\u001b[39m",
  ]);
  expect(formatPatchHeadings(patch, { paint: plainPaint })).toEqual(["  x +1 -1"]);
});
