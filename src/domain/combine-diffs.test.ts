import { expect, it } from "vitest";
import { addDiff, type CombinedDiffs } from "./combine-diffs.ts";
import type { FileDiff } from "./events.ts";
import { formatFilePatch } from "./format-patch.ts";

function combine(...diffs: FileDiff[]): FileDiff[] {
  const combined: CombinedDiffs = new Map();
  for (const diff of diffs) addDiff(combined, diff);
  return [...combined.values()].flat();
}

const edit = (before: string | null, after: string | null, more: Partial<FileDiff> = {}): FileDiff => ({
  path: "a.txt",
  before,
  after,
  ...more,
});

it("joins changes that follow each other", () => {
  expect(combine(edit("1\n", "2\n"), edit("2\n", "3\n"))).toEqual([edit("1\n", "3\n")]);
  expect(combine(edit(null, "1\n"), edit("1\n", "2\n"))).toEqual([edit(null, "2\n")]);
  expect(combine(edit("1\n", null), edit(null, "2\n"))).toEqual([edit("1\n", "2\n")]);
});

it("drops changes that cancel out", () => {
  expect(combine(edit("1\n", "2\n"), edit("2\n", "1\n"))).toEqual([]);
  expect(combine(edit(null, "1\n"), edit("1\n", null))).toEqual([]);
});

it("joins an excerpt with the text around it", () => {
  const whole = edit("a\nb\nc\n", "a\nB\nc\n");
  expect(combine(whole, edit("B\nc\n", "B\nC\n", { line: 2 }))).toEqual([edit("a\nb\nc\n", "a\nB\nC\n")]);
  const excerpt = edit("x\ny\n", "x\nY\nz\n", { line: 10 });
  expect(combine(excerpt, edit("z\n", "Z\n", { line: 12 }))).toEqual([edit("x\ny\n", "x\nY\nZ\n", { line: 10 })]);
});

it("keeps changes apart that do not fit together", () => {
  const changes = [edit("1\n", "2\n"), edit("formatted\n", "3\n")];
  expect(combine(...changes)).toEqual(changes);
  const outside = [edit("x\n", "y\n", { line: 10 }), edit("q\n", "r\n", { line: 3 })];
  expect(combine(...outside)).toEqual(outside);
  const cut = [edit("1\n", "2\n"), edit("2\n", "3\n", { truncated: true })];
  expect(combine(...cut)).toEqual(cut);
});

it("formats a patch as git does", () => {
  const { file, lines } = formatFilePatch("a.txt", [edit("x\ny\n", "x\nz\n", { line: 10 })]);
  expect(file).toEqual({ path: "a.txt", change: "modified", binary: false, additions: 1, deletions: 1 });
  expect(lines).toEqual([
    "diff --git a/a.txt b/a.txt",
    "--- a/a.txt",
    "+++ b/a.txt",
    "@@ -10,2 +10,2 @@",
    " x",
    "-y",
    "+z",
  ]);
});

it("formats added, deleted and binary files, and unknown changes", () => {
  expect(formatFilePatch("n", [edit(null, "1\n")]).lines).toEqual([
    "diff --git a/n b/n",
    "new file mode 100644",
    "--- /dev/null",
    "+++ b/n",
    "@@ -0,0 +1,1 @@",
    "+1",
  ]);
  expect(formatFilePatch("d", [edit("1", null)])).toMatchObject({ file: { change: "deleted", deletions: 1 } });
  expect(formatFilePatch("b", [edit("\0", "\0\0")])).toMatchObject({ file: { binary: true } });
  const unknown = formatFilePatch("u", [edit(null, null, { truncated: true })]);
  expect(unknown).toMatchObject({ file: { path: "u", change: "modified", binary: false }, truncated: true });
  expect(unknown.file).not.toHaveProperty("additions");
});

it("quotes names, so that they cannot add lines to the patch", () => {
  const { lines } = formatFilePatch('a\n+++ "x', [edit("1\n", "2\n")]);
  expect(lines[0]).toBe(String.raw`diff --git "a/a\012+++ \"x" "b/a\012+++ \"x"`);
  expect(lines.join("\n").split("\n")).toHaveLength(lines.length);
});
