import { execFileSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openScene, type Scene } from "../test-scene.ts";
import { createPathMatcher } from "./glob-pattern.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
  for (const folder of ["src", "src/deep", "out", "node_modules"]) mkdirSync(scene.at(folder));
  writeFileSync(scene.at("src/a.ts"), "one\nTwo\nthree\n");
  writeFileSync(scene.at("src/deep/b.tsx"), "two\r\n");
  writeFileSync(scene.at("out/c.ts"), "two\n");
  writeFileSync(scene.at("node_modules/d.ts"), "two\n");
  writeFileSync(scene.at("bin"), Buffer.from("two\0"));
  writeFileSync(scene.at(".gitignore"), "out/\nnode_modules\n");
});
afterEach(() => scene[Symbol.asyncDispose]());

const init = () =>
  execFileSync("git", ["init", "-q", scene.folder], { env: { PATH: process.env["PATH"], HOME: scene.folder } });
const text = async (name: string, input: object) => (await scene.run(name, input)).text;

describe("list", () => {
  it("shows a tree without ignored files, and with them on request", async () => {
    init();
    expect(await text("list", {})).toBe("src/\n  deep/ (1 file)\n  a.ts\n.gitignore\nbin");
    expect(await text("list", { depth: 1, ignored: true })).toBe(
      "node_modules/ (1 file)\nout/ (1 file)\nsrc/ (2 files)\n.gitignore\nbin",
    );
    expect(await text("list", { path: "src/deep" })).toBe("b.tsx");
  });

  it("works outside a repository, and rejects a path that is not a directory", async () => {
    expect(await text("list", { depth: 1 })).toBe("out/ (1 file)\nsrc/ (2 files)\n.gitignore\nbin");
    expect(await text("list", { path: "bin" })).toContain("not a directory");
    expect(await text("list", { path: "gone" })).toContain("gone does not exist");
  });

  it("limits the number of entries", async () => {
    mkdirSync(scene.at("many"));
    for (let at = 0; at < 1_200; at += 1) writeFileSync(scene.at(`many/${at}`), "");
    expect(await text("list", { path: "many" })).toMatch(/\n… 200 more entries/);
  });
});

describe("glob", () => {
  it("finds files by pattern, sorted by name or by time", async () => {
    init();
    utimesSync(scene.at("src/a.ts"), 1, 1);
    expect(await text("glob", { pattern: "**/*.{ts,tsx}" })).toBe("src/a.ts\nsrc/deep/b.tsx");
    expect(await text("glob", { pattern: "**/*.ts*", sort: "newest" })).toBe("src/deep/b.tsx\nsrc/a.ts");
    expect(await text("glob", { pattern: "*.ts", path: "src" })).toBe("src/a.ts");
    expect(await text("glob", { pattern: "out/*", ignored: true })).toBe("out/c.ts");
    expect(await text("glob", { pattern: "*.py" })).toBe("no file matches *.py");
  });

  it.each([
    ["**", "a/b/c", true],
    ["**/c", "c", true],
    ["a/**/c", "a/c", true],
    ["a/**/c/**/d", "a/x/c/y/c/z/d", true],
    ["a/*", "a/b/c", false],
    ["?[a-c].[!j]s", "xb.ts", true],
    ["?[a-c].[!j]s", "xb.js", false],
    ["{a,b{c,d}}.x", "bd.x", true],
    ["./a", "a", true],
    ["\\*", "a", false],
    ["😀?", "😀😀", true],
  ])("matches %s against %s: %s", (pattern, path, expected) => {
    expect(createPathMatcher(pattern)(path)).toBe(expected);
  });

  it("matches a pathological pattern quickly, and rejects a pattern with too many alternatives", async () => {
    expect(createPathMatcher(`${"*a".repeat(200)}b`)("a".repeat(4_000))).toBe(false);
    expect(await text("glob", { pattern: "{a,b}".repeat(20) })).toContain("alternatives");
    expect(await text("glob", { pattern: "{a" })).toContain("without a }");
  });
});

describe("grep", () => {
  beforeEach(init);

  it.each([
    [{}, "src/deep/b.tsx:1:two"],
    [{ ignore_case: true }, "src/a.ts:2:Two\nsrc/deep/b.tsx:1:two"],
    [{ pattern: "^T", context: 1 }, "src/a.ts-1-one\nsrc/a.ts:2:Two\nsrc/a.ts-3-three"],
    [{ output: "files", ignored: true }, "node_modules/d.ts\nout/c.ts\nsrc/deep/b.tsx"],
    [{ pattern: "t", output: "count" }, "src/a.ts: 1\nsrc/deep/b.tsx: 1\n.gitignore"],
    [{ ignore_case: true, include: "*.ts" }, "src/a.ts:2:Two"],
    [{ path: "src/deep/b.tsx" }, "src/deep/b.tsx:1:two"],
    [{ path: "src/deep" }, "src/deep/b.tsx:1:two"],
  ])("finds the expected lines with %j", async (input, expected) => {
    const found = await text("grep", { pattern: "two", ...input });
    expect(found.split("\n").sort()).toEqual(expected.replace("\n.gitignore", "\n.gitignore: 1").split("\n").sort());
  });

  it("rejects an invalid regular expression, and limits the number of matches", async () => {
    expect(await text("grep", { pattern: "(" })).toContain("invalid regular expression");
    writeFileSync(scene.at("src/many"), "match\n".repeat(10_000));
    const found = await text("grep", { pattern: "match" });
    expect(found.split("\n")).toHaveLength(501);
    expect(found).toContain("there may be more matches");
  });

  it("stops an expression that never ends at the time limit", async () => {
    writeFileSync(scene.at("src/trap"), `${"a".repeat(50)}!\n`);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let isOver = false;
      const searching = scene.run("grep", { pattern: "^(a+)+$" }).finally(() => (isOver = true));
      const began = performance.now();
      while (!isOver) {
        await new Promise((resolve) => setImmediate(resolve));
        if (performance.now() - began > 300) vi.advanceTimersByTime(30_000); // the worker is busy by then
      }
      expect(await searching).toMatchObject({ outcome: "timed_out", text: expect.stringMatching(/longer than 30 s/) });
    } finally {
      vi.useRealTimers();
    }
  });

  it("stops an expression that never ends on cancellation, and does not block the process", async () => {
    writeFileSync(scene.at("src/trap"), `${"a".repeat(50)}!\n`);
    const controller = new AbortController();
    const searching = scene.run("grep", { pattern: "^(a+)+$" }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50); // fires only while this thread is free
    expect(await searching).toMatchObject({ outcome: "cancelled" });
  });
});
