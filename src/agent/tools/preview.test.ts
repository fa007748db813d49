/** The checks of each tool before a person is asked, and the changes that it would make. */
// own process: one test starts background commands
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CallPreview } from "../../domain/index.ts";
import { openScene, type Scene } from "./test-scene.ts";

const preview = async ({ tools, folder }: Scene, name: string, input: unknown): Promise<CallPreview | undefined> =>
  tools.preview?.({ toolId: "t", name, input }, { cwd: folder, signal: new AbortController().signal });

describe("a call with invalid arguments", () => {
  it.each([
    "read",
    "write",
    "edit",
    "list",
    "glob",
    "grep",
    "bash",
    "bash_output",
    "bash_input",
    "bash_kill",
    "fetch",
    "todo",
    "ask",
  ])("of %s is refused with the message of the call itself", async (name) => {
    await using scene = await openScene();
    const { refusal } = (await preview(scene, name, { nonsense: 1 })) ?? {};
    expect(refusal).toMatch(/^invalid arguments: /);
    expect(await scene.run(name, { nonsense: 1 })).toMatchObject({ outcome: "failed", text: refusal });
  });
});

describe("a call that must fail", () => {
  const edit = (path: string, old_text = "one", new_text = "two") => ["edit", { path, old_text, new_text }] as const;
  it.each<[string, readonly [string, unknown], RegExp]>([
    ["an edit of a file that was not read", edit("unread"), /was not read in this conversation/],
    ["an edit of a missing file", edit("missing"), /does not exist/],
    ["an edit outside of the working directory", edit("../x"), /outside the working folder/],
    ["an edit through a symlink to the outside", edit("link"), /outside the working folder/],
    ["an edit of text that is not found", edit("read", "nine"), /old_text was not found in read/],
    ["an edit of text that occurs twice", edit("read", "o"), /occurs 2 times in read/],
    ["an edit that changes nothing", edit("read", "one", "one"), /identical/],
    ["an edit of a binary file", edit("binary"), /not a text file/],
    ["a write over a file that was not read", ["write", { path: "unread", content: "x" }], /was not read/],
    ["a write outside of the working directory", ["write", { path: "/etc/x", content: "x" }], /outside/],
    ["a write over a folder", ["write", { path: "folder", content: "x" }], /folder/],
    ["a fetch of another protocol", ["fetch", { url: "file:///etc/passwd" }], /only http and https/],
    ["a fetch of an invalid URL", ["fetch", { url: "example" }], /not a valid URL/],
    ["input for an unknown command", ["bash_input", { handle: "bash-9", text: "x" }], /no background command bash-9/],
    ["the end of an unknown command", ["bash_kill", { handle: "bash-9" }], /no background command bash-9/],
  ])("is refused: %s", async (_, [name, input], reason) => {
    await using scene = await openScene();
    writeFileSync(scene.at("unread"), "one\n");
    writeFileSync(scene.at("read"), "one\ntwo\n");
    writeFileSync(scene.at("binary"), "one\0");
    mkdirSync(scene.at("folder"));
    symlinkSync(join(scene.outside, "secret"), scene.at("link"));
    await scene.run("read", { path: "read" });
    const { refusal, diffs } = (await preview(scene, name, input)) ?? {};
    expect(refusal).toMatch(reason);
    expect(diffs).toBeUndefined();
  });

  it("is refused: a background command beyond the maximum", async () => {
    await using scene = await openScene();
    const sleeps = { command: "sleep 60", background: true };
    for (let count = 0; count < 16; count += 1) await scene.run("bash", sleeps);
    expect((await preview(scene, "bash", sleeps))?.refusal).toContain("16 background commands are running");
    expect((await preview(scene, "bash", { command: "true" }))?.refusal).toBeUndefined();
  });
});

describe("the preview of a change", () => {
  it("has the diff of an edit and changes nothing", async () => {
    await using scene = await openScene();
    writeFileSync(scene.at("a"), "one\ntwo\n");
    await scene.run("read", { path: "a" });
    const input = { path: "a", old_text: "two", new_text: "2" };
    const diffs = [{ path: "a", before: "one\ntwo\n", after: "one\n2\n" }];
    expect(await preview(scene, "edit", input)).toEqual({ diffs });
    expect(readFileSync(scene.at("a"), "utf8")).toBe("one\ntwo\n");
    expect(await scene.run("edit", input)).toMatchObject({ outcome: "ok", diffs });
  });

  it("has the diff of a new file and of a replaced one", async () => {
    await using scene = await openScene();
    writeFileSync(scene.at("old"), "old\n");
    await scene.run("read", { path: "old" });
    const written = async (path: string) => (await preview(scene, "write", { path, content: "new\n" }))?.diffs;
    expect(await written("deep/new")).toEqual([{ path: "deep/new", before: null, after: "new\n" }]);
    expect(await written("old")).toEqual([{ path: "old", before: "old\n", after: "new\n" }]);
    expect(existsSync(scene.at("deep"))).toBe(false);
  });

  it("does not replace the checks of the call: the file may change before the answer", async () => {
    await using scene = await openScene();
    writeFileSync(scene.at("a"), "one\n");
    await scene.run("read", { path: "a" });
    const input = { path: "a", old_text: "one", new_text: "two" };
    expect(await preview(scene, "edit", input)).toHaveProperty("diffs");
    writeFileSync(scene.at("a"), "one\nmore\n");
    expect(await scene.run("edit", input)).toMatchObject({
      outcome: "failed",
      text: expect.stringContaining("has changed since"),
    });
  });
});
