import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { temporaryFolder, type TemporaryFolder } from "../testing/repository.ts";
import { PathRefusal, confined, replaceConfined } from "./index.ts";

let [first, second, outside]: TemporaryFolder[] = [];
beforeEach(async () => {
  [first, second, outside] = await Promise.all([temporaryFolder(), temporaryFolder(), temporaryFolder()]);
});
afterEach(async () => {
  for (const folder of [first, second, outside]) await folder?.[Symbol.asyncDispose]();
});

const folders = () => [first!.path, join(first!.path, "not-there"), second!.path];

it("resolves paths in any of the folders, and relative paths in the first", async () => {
  expect(await confined(folders(), "a/b")).toBe(join(first!.path, "a/b"));
  expect(await confined(folders(), join(second!.path, "c"))).toBe(join(second!.path, "c"));
  expect(await confined(folders(), second!.path)).toBe(second!.path);
});

it("follows a symlink from one folder to another, but not out of both", async () => {
  symlinkSync(second!.path, join(first!.path, "over"));
  symlinkSync(outside!.path, join(first!.path, "out"));
  expect(await confined(folders(), "over/x")).toBe(join(second!.path, "x"));
  await expect(confined(folders(), "out/x")).rejects.toThrow(PathRefusal);
  await expect(confined(folders(), `${first!.path}x`)).rejects.toThrow("outside the working folder");
  await expect(confined(folders(), join(second!.path, "../x"))).rejects.toThrow(PathRefusal);
});

it("replaces a file in any of the folders and leaves no temporary file", async () => {
  const path = join(second!.path, "deep", "file");
  await replaceConfined(folders(), path, "new");
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(readdirSync(join(second!.path, "deep"))).toEqual(["file"]);
});

it("does not replace a folder or a symlink that leads outside", async () => {
  mkdirSync(join(second!.path, "folder"));
  writeFileSync(join(outside!.path, "kept"), "old");
  symlinkSync(join(outside!.path, "kept"), join(second!.path, "link"));
  await expect(replaceConfined(folders(), join(second!.path, "link"), "new")).rejects.toThrow(PathRefusal);
  await expect(replaceConfined(folders(), join(second!.path, "folder"), "new")).rejects.toThrow();
  expect(readFileSync(join(outside!.path, "kept"), "utf8")).toBe("old");
});
