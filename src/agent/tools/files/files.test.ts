import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openScene, type Scene } from "../test-scene.ts";
import { formatUnifiedDiff } from "./unified-diff.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
  writeFileSync(scene.at("a.txt"), "one\n  two\nthree\n");
});
afterEach(() => scene[Symbol.asyncDispose]());

const edit = (more: object) => scene.run("edit", { path: "a.txt", old_text: "two", new_text: "2", ...more });
const read = (path = "a.txt") => scene.run("read", { path });
const text = () => readFileSync(scene.at("a.txt"), "utf8");

describe("a change", () => {
  it("requires that the current version was read", async () => {
    expect((await edit({})).text).toContain("was not read");
    expect((await scene.run("write", { path: "a.txt", content: "" })).text).toContain("was not read");
    await read();
    writeFileSync(scene.at("a.txt"), "two\n");
    expect((await edit({})).text).toContain("has changed since");
    expect((await scene.run("write", { path: "a.txt", content: "" })).text).toContain("has changed since");
    expect(text()).toBe("two\n");
    await read();
    expect(await edit({})).toMatchObject({ outcome: "ok" });
  });

  it("may follow the agent's own change, even if the same content was written again", async () => {
    await scene.run("write", { path: "new", content: "a\n" });
    writeFileSync(scene.at("new"), "a\n");
    expect(await edit({ path: "new", old_text: "a", new_text: "b" })).toMatchObject({ outcome: "ok" });
    expect(await edit({ path: "new", old_text: "b", new_text: "c" })).toMatchObject({ outcome: "ok" });
  });

  it("waits for an earlier change to the same file", async () => {
    const places = Array.from({ length: 20 }, (_, at) => at);
    await scene.run("write", { path: "list", content: places.map((at) => `<${at}>`).join("\n") });
    const asked = places.map((at) => scene.run("edit", { path: "list", old_text: `<${at}>`, new_text: `[${at}]` }));
    expect((await Promise.all(asked)).map(({ outcome }) => outcome)).toEqual(places.map(() => "ok"));
    expect(readFileSync(scene.at("list"), "utf8")).toBe(places.map((at) => `[${at}]`).join("\n"));
  });

  it("returns a diff and keeps the file mode", async () => {
    chmodSync(scene.at("a.txt"), 0o750);
    await read();
    const result = await edit({});
    expect(result.text).toBe("changed a.txt at line 2\n@@ -1,3 +1,3 @@\n one\n-  two\n+  2\n three");
    expect(result.diffs).toEqual([{ path: "a.txt", before: "one\n  two\nthree\n", after: "one\n  2\nthree\n" }]);
    expect(statSync(scene.at("a.txt")).mode & 0o777).toBe(0o750);
  });

  it.each([["\ud83d"], ["a\udc00"]])("rejects an unpaired surrogate: %j", async (half) => {
    writeFileSync(scene.at("a.txt"), "😀");
    await read();
    expect(await edit({ old_text: half })).toMatchObject({ outcome: "failed" });
    expect(await edit({ old_text: "😀", new_text: half })).toMatchObject({ outcome: "failed" });
    expect(text()).toBe("😀");
  });
});

describe("old_text that does not occur", () => {
  it.each([
    ["one\ntwo\nthree", "lines 1 to 3, where only the indentation differs:\n1\tone\n2\t  two\n3\tthree"],
    ["1\tone\n2\t  two", "its lines start with line numbers"],
    ["three  ", "line 3, where only leading or trailing whitespace differs"],
    ["ONE", "line 1, where only upper and lower case differ"],
    ["one\n  two\nfour", "lines 1 to 3:"],
    ["something else", "and nothing similar"],
  ])("%j is reported with the closest match", async (old_text, words) => {
    await read();
    expect((await edit({ old_text })).text).toContain(words);
  });

  it("is reported with different quotes or line endings", async () => {
    writeFileSync(scene.at("a.txt"), "say(‘hi’)\nx\r\ny\n");
    await read();
    expect((await edit({ old_text: "say('hi')" })).text).toContain("line 1, where only quotes");
    expect((await edit({ old_text: "x\ny" })).text).toContain("lines 2 to 3, where only the line endings differ");
  });
});

describe("reading", () => {
  it("detects an image by its content, and rejects one that is too large", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000", "hex");
    writeFileSync(scene.at("x.txt"), png);
    writeFileSync(scene.at("y.png"), Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024)]));
    const { blobs } = await read("x.txt");
    expect(blobs).toEqual([{ type: "blob", hash: "blob-0", mediaType: "image/png", name: "x.txt" }]);
    expect(scene.blobs.get("blob-0")).toEqual(png);
    expect((await read("y.png")).text).toContain("make a smaller copy");
  });

  it("returns as many lines as fit, truncates long ones, and hides byte order marks and CR", async () => {
    writeFileSync(scene.at("long"), `${"x".repeat(5_000)}\n`.repeat(100));
    const { text: shown } = await read("long");
    expect(shown.length).toBeLessThan(31_000);
    expect(shown).toMatch(/^1\tx{2000}… \(3000 characters omitted\)\n[^]*\n… 8\d more lines$/);
    writeFileSync(scene.at("windows"), "\ufeffa\r\nb\r\n");
    expect((await read("windows")).text).toBe("1\ta\n2\tb");
    writeFileSync(scene.at("empty"), "");
    expect((await read("empty")).text).toBe("[the file is empty]");
  });
});

it.each([
  ["", "a\n", "@@ -0,0 +1,1 @@\n+a"],
  ["a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file"],
  [
    "a\nb\nc\nd\ne\nf\ng\nh\n",
    "A\nb\nc\nd\ne\nf\ng\nH\n",
    "@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n@@ -6,3 +6,3 @@\n f\n g\n-h\n+H",
  ],
  ["a\nb\nc\n", "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c"],
])("formats the difference between %j and %j as hunks", (before, after, expected) => {
  expect(formatUnifiedDiff(before, after)).toBe(expected);
});
