import { describe, expect, it } from "vitest";
import { parsePatch, type Patch } from "./parse-patch.ts";

const patch = (...lines: readonly string[]): Patch => parsePatch(`${lines.join("\n")}\n`);
const paths = ({ files }: Patch): readonly string[] => files.map(({ path }) => path);
/** Rows as one line each: numbers, sign and text. */
const rowLines = ({ rows }: Patch): readonly string[] =>
  rows.map((row) => {
    if (row.kind === "file") return `file ${row.file}`;
    if (row.kind !== "line") return `${row.kind} ${row.text}`;
    const sign = { context: " ", added: "+", removed: "-" }[row.change];
    return `${row.oldLine ?? "."}|${row.newLine ?? "."}|${sign}${row.text}${row.noNewline ? "¬" : ""}`;
  });

it("numbers the lines of both sides, and counts additions and deletions", () => {
  const parsed = patch(
    "diff --git a/a.ts b/a.ts",
    "index 1..2 100644",
    "--- a/a.ts",
    "+++ b/a.ts",
    "@@ -3,3 +3,4 @@ function one() {",
    " same",
    "-old",
    "+new",
    "+more",
    " end",
    "@@ -20 +21 @@",
    "-x",
    "+y",
  );
  expect(rowLines(parsed)).toEqual([
    "file 0",
    "hunk @@ -3,3 +3,4 @@ function one() {",
    "3|3| same",
    "4|.|-old",
    ".|4|+new",
    ".|5|+more",
    "5|6| end",
    "hunk @@ -20 +21 @@",
    "20|.|-x",
    ".|21|+y",
  ]);
  expect(parsed.files).toEqual([
    { path: "a.ts", from: undefined, change: "modified", additions: 3, deletions: 2, row: 0 },
  ]);
});

it("knows added, deleted, renamed, copied, empty and binary files, and changed modes", () => {
  const parsed = patch(
    "diff --git a/new.txt b/new.txt",
    "new file mode 100644",
    "index 0..1",
    "--- /dev/null",
    "+++ b/new.txt",
    "@@ -0,0 +1 @@",
    "+a",
    "diff --git a/gone.txt b/gone.txt",
    "deleted file mode 100644",
    "--- a/gone.txt",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-a",
    "diff --git a/old name b/new name",
    "similarity index 100%",
    "rename from old name",
    "rename to new name",
    "diff --git a/x b/y",
    "similarity index 90%",
    "copy from x",
    "copy to y",
    "diff --git a/empty file b/empty file",
    "new file mode 100644",
    "index 0..e69de29",
    "diff --git a/logo.png b/logo.png",
    "index 1..2 100644",
    "Binary files a/logo.png and b/logo.png differ",
    "diff --git a/run.sh b/run.sh",
    "old mode 100644",
    "new mode 100755",
    "* Unmerged path both.txt",
  );
  expect(parsed.files.map(({ path, from, change }) => [change, from, path])).toEqual([
    ["added", undefined, "new.txt"],
    ["deleted", undefined, "gone.txt"],
    ["renamed", "old name", "new name"],
    ["copied", "x", "y"],
    ["added", undefined, "empty file"],
    ["modified", undefined, "logo.png"],
    ["modified", undefined, "run.sh"],
    ["unmerged", undefined, "both.txt"],
  ]);
  expect(rowLines(parsed).filter((line) => line.startsWith("note"))).toEqual([
    "note Binary file",
    "note Mode 100644 changed to 100755",
    "note This file has conflicts that are not resolved.",
  ]);
});

it("marks lines without a newline at the end, on both sides", () => {
  const parsed = patch(
    "diff --git a/a b/a",
    "--- a/a",
    "+++ b/a",
    "@@ -1 +1 @@",
    "-one",
    "\\ No newline at end of file",
    "+two",
    "\\ No newline at end of file",
  );
  expect(rowLines(parsed).slice(2)).toEqual(["1|.|-one¬", ".|1|+two¬"]);
});

describe("names of files", () => {
  it.each([
    ['"a/\\303\\244 b.txt" "b/\\303\\244 b.txt"', "ä b.txt"],
    ['"a/tab\\there\\"quote\\\\.txt" "b/tab\\there\\"quote\\\\.txt"', 'tab\there"quote\\.txt'],
    ['"a/line\\nbreak" "b/line\\nbreak"', "line\nbreak"],
    ["a/a b/a b/a b/a", "a b/a"],
    ['"a/caf\\351.txt" "b/caf\\351.txt"', '"caf\\351.txt"'],
    ["a/\u202egpj.exe b/\u202egpj.exe", "\u202egpj.exe"],
    ["a/<img src=x> b/<img src=x>", "<img src=x>"],
  ])("reads %s", (names, path) => {
    expect(paths(patch(`diff --git ${names}`, "new file mode 100644"))).toEqual([path]);
  });

  it("reads a moved file whose old name has quotes and whose new name has none", () => {
    const parsed = patch(
      'diff --git "a/\\303\\244" b/a',
      "similarity index 100%",
      'rename from "\\303\\244"',
      "rename to a",
    );
    expect(parsed.files).toMatchObject([{ from: "ä", path: "a", change: "renamed" }]);
  });

  it("removes the tab after a name with spaces", () => {
    const parsed = patch("diff --git a/x y b/x y", "--- a/x y\t", "+++ b/x y\t", "@@ -1 +1 @@", "-a", "+b");
    expect(paths(parsed)).toEqual(["x y"]);
  });
});

it("treats lines of a hunk only as lines of the hunk, whatever they look like", () => {
  const parsed = patch(
    "diff --git a/evil b/evil",
    "--- a/evil",
    "+++ b/evil",
    "@@ -1,4 +1,4 @@",
    "--- a/other",
    "-diff --git a/x b/x",
    "-@@ -1 +1 @@",
    " * Unmerged path x",
    "+++ b/other",
    "+diff --git a/y b/y",
    "+rename to y",
  );
  expect(paths(parsed)).toEqual(["evil"]);
  expect(parsed.files[0]).toMatchObject({ additions: 3, deletions: 3 });
  expect(rowLines(parsed).slice(2, 4)).toEqual(["1|.|--- a/other", "2|.|-diff --git a/x b/x"]);
});

it("parses the existing part of a patch that was cut, and of text that is not a patch", () => {
  const cut = parsePatch("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n same\n-ol");
  expect(rowLines(cut)).toEqual(["file 0", "hunk @@ -1,9 +1,9 @@", "1|1| same", "2|.|-ol"]);
  for (const text of ["", "\n\n", "hello", "@@ -1 +1 @@\n+x", "\\ No newline at end of file"]) {
    expect(parsePatch(text), text).toEqual({ files: [], rows: [] });
  }
});

it("keeps carriage returns and empty lines whose space a program removed", () => {
  const parsed = patch("diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1,3 +1,3 @@", " a\r", "", "-b", "+c");
  expect(rowLines(parsed).slice(2)).toEqual(["1|1| a\r", "2|2| ", "3|.|-b", ".|3|+c"]);
});
