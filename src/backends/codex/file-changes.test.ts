import { expect, it } from "vitest";
import { applyHunks, toChangeDiffs, toProposedChangeDiffs, classifyChanges, revertHunks } from "./file-changes.ts";
import type { FileUpdate } from "./wire.ts";

const AFTER = "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\nmore\n";
const BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nold\nten\n";
const HUNKS = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -8,4 +8,4 @@\n eight\n nine\n-old\n ten\n+more\n";
const update = (diff: string, move_path: string | null = null): FileUpdate => ({
  path: "/project/a.txt",
  kind: { type: "update", move_path },
  diff,
});

it.each([
  ["several hunks", AFTER, HUNKS, BEFORE],
  ["added lines", "a\nb\nc\n", "@@ -1,1 +1,3 @@\n a\n+b\n+c\n", "a\n"],
  ["removed lines", "a\n", "@@ -1,3 +1 @@\n a\n-b\n-c\n", "a\nb\nc\n"],
  ["the removal of all text", "", "@@ -1 +0,0 @@\n-a\n", "a\n"],
  ["a change of a moved file", "x\n", "@@ -1 +1 @@\n-y\n+x\n\n\nMoved to: /project/b.txt", "y\n"],
])("reverts and applies %s", (_, after, hunks, before) => {
  expect(revertHunks(after, hunks)).toBe(before);
  expect(applyHunks(before, hunks)).toBe(after);
});

it("neither reverts nor applies hunks that do not match", () => {
  expect(revertHunks("something else\n", HUNKS)).toBeUndefined();
  expect(applyHunks("something else\n", HUNKS)).toBeUndefined();
});

it("returns diffs of added, deleted and updated files", () => {
  const read = (path: string) => (path === "/project/a.txt" ? AFTER : undefined);
  const changes: FileUpdate[] = [
    { path: "/project/new", kind: { type: "add" }, diff: "n\n" },
    { path: "/project/gone", kind: { type: "delete" }, diff: "g\n" },
    update(HUNKS),
  ];
  const diffs = [
    { path: "/project/new", before: null, after: "n\n" },
    { path: "/project/gone", before: "g\n", after: null },
    { path: "/project/a.txt", before: BEFORE, after: AFTER },
  ];
  expect(toChangeDiffs(changes, read)).toEqual(diffs);
  expect(toProposedChangeDiffs(changes, (path) => (path === "/project/a.txt" ? BEFORE : undefined))).toEqual(diffs);
});

it("reads the old text of a file that is to be moved at its old path", () => {
  const moved = update("@@ -1 +1 @@\n-y\n+x\n", "/project/b.txt");
  const read = (path: string) => (path === "/project/a.txt" ? "y\n" : null);
  expect(toProposedChangeDiffs([moved], read)).toEqual([{ path: "/project/b.txt", before: "y\n", after: "x\n" }]);
});

it("returns one diff per hunk, with its line, if the file does not match", () => {
  const hunks = [
    { path: "/project/a.txt", before: "one\ntwo\nthree\n", after: "one\nTWO\nthree\n", line: 1 },
    { path: "/project/a.txt", before: "eight\nnine\nold\nten\n", after: "eight\nnine\nten\nmore\n", line: 8 },
  ];
  expect(toChangeDiffs([update(HUNKS)], () => "something else\n")).toEqual(hunks);
  expect(toProposedChangeDiffs([update(HUNKS)], () => undefined)).toEqual(hunks);
});

it("says that the change is unknown if it has neither a file nor hunks", () => {
  const unknown = { path: "/project/a.txt", before: null, after: null, truncated: true };
  expect(toProposedChangeDiffs([update("")], () => undefined)).toEqual([unknown]);
});

it.each([
  ["edit", [update(HUNKS)]],
  ["edit", [update(HUNKS, "/project/b.txt")]],
  ["move", [update("\n\nMoved to: /project/b.txt", "/project/b.txt")]],
  ["delete", [{ path: "/project/gone", kind: { type: "delete" as const }, diff: "" }]],
])("classifies changes as %s", (kind, changes) => {
  expect(classifyChanges(changes)).toBe(kind);
});
