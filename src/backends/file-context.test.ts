/** Diffs of replaced text, completed with the file around it. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/index.ts";
import { completeMadeDiff, completeProposedDiff, readFileText } from "./file-context.ts";

const path = "/project/a";
const file = "one\ntwo\nthree\n";

it.each([
  ["replaced text", { before: "two", after: "2" }, file, { before: file, after: "one\n2\nthree\n" }],
  ["a file that is written anew", { before: null, after: "new\n" }, file, { before: file, after: "new\n" }],
  ["a new file", { before: "", after: "new\n" }, null, { before: null, after: "new\n" }],
  ["text that occurs twice", { before: "t", after: "T" }, file, { before: "t", after: "T" }],
  ["text that does not occur", { before: "four", after: "4" }, file, { before: "four", after: "4" }],
  ["a file that cannot be read", { before: "two", after: "2" }, undefined, { before: "two", after: "2" }],
  ["a file of another machine", { before: "two", after: "2" }, null, { before: "two", after: "2" }],
  ["a deleted file", { before: file, after: null }, file, { before: file, after: null }],
])("completes a proposed diff of %s", (_, diff, text, expected) => {
  expect(completeProposedDiff({ path, ...diff }, () => text)).toEqual({ path, ...expected });
});

it.each([
  ["replaced text", { before: "2", after: "two" }, file, { before: "one\n2\nthree\n", after: file }],
  ["text that was removed", { before: "2", after: "" }, file, { before: "2", after: "" }],
  ["a new file", { before: null, after: "new\n" }, file, { before: null, after: "new\n" }],
])("completes a diff of %s that was made", (_, diff, text, expected) => {
  expect(completeMadeDiff({ path, ...diff }, () => text)).toEqual({ path, ...expected });
});

it("reads only text files of a moderate size, through symlinks", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  writeFileSync(at("text"), "text\n");
  writeFileSync(at("binary"), "a\0b");
  writeFileSync(at("latin1"), Buffer.from([0xe9, 0x0a]));
  writeFileSync(at("large"), "x".repeat(1024 * 1024 + 1));
  mkdirSync(at("folder"));
  symlinkSync("text", at("link"));
  const read = ["text", "link", "missing", "binary", "latin1", "large", "folder"].map((name) => readFileText(at(name)));
  expect(read).toEqual(["text\n", "text\n", null, undefined, undefined, undefined, undefined]);
  expect(readFileText("relative")).toBeUndefined();
});
