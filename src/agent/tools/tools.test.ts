import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventBody, ToolContext } from "../../domain/index.ts";
import { processesMarked } from "../../stdx/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/index.ts";
import { codingTools } from "./index.ts";

let outside: TemporaryFolder;
let folder: TemporaryFolder;
let recorded: EventBody[];
beforeEach(async () => {
  outside = await temporaryFolder();
  folder = await temporaryFolder();
  recorded = [];
  writeFileSync(join(outside.path, "secret"), "secret");
  writeFileSync(join(folder.path, "a.txt"), "one\ntwo\nthree\n");
});
afterEach(async () => {
  await outside[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const tools = codingTools({ env: { PATH: process.env["PATH"] } });
const at = (name: string) => join(folder.path, name);

function run(name: string, input: unknown, signal = new AbortController().signal, marker = "tools-test") {
  const context: ToolContext = {
    cwd: folder.path,
    signal,
    marker,
    progress: () => undefined,
    record: (body) => Promise.resolve(void recorded.push(body)),
  };
  return tools.call({ toolId: "t", name, input }, context);
}

describe("confinement", () => {
  beforeEach(() => {
    symlinkSync(outside.path, at("way-out"));
    symlinkSync(join(outside.path, "secret"), at("link"));
    symlinkSync(join(outside.path, "new"), at("dangling"));
    symlinkSync("loop", at("loop"));
    symlinkSync("a.txt", at("inside"));
    execFileSync("mkfifo", [at("fifo")]);
    mkdirSync(at("sub"));
  });

  it.each([
    ["a path above", "../x"],
    ["an absolute path", "/etc/passwd"],
    ["a path that climbs later", "sub/../../x"],
    ["a folder link", "way-out/secret"],
    ["a new file behind a folder link", "way-out/new"],
    ["a file link", "link"],
    ["a link to nothing", "dangling"],
    ["a link to itself", "loop"],
    ["a FIFO", "fifo"],
    ["a folder", "sub"],
    ["a file as a folder", "a.txt/b"],
  ])("refuses %s for every file tool, and touches nothing", async (_, path) => {
    expect(await run("read", { path })).toMatchObject({ outcome: "failed" });
    expect(await run("write", { path, content: "x" })).toMatchObject({ outcome: "failed" });
    expect(await run("edit", { path, old_text: "s", new_text: "x" })).toMatchObject({ outcome: "failed" });
    expect(readFileSync(join(outside.path, "secret"), "utf8")).toBe("secret");
    expect(execFileSync("ls", [outside.path], { encoding: "utf8" })).toBe("secret\n");
  });

  it("follows a link that stays inside", async () => {
    expect(await run("read", { path: "inside" })).toMatchObject({ outcome: "ok" });
  });
});

describe("files", () => {
  it("reads with line numbers, and a range of a long file", async () => {
    expect((await run("read", { path: "a.txt" })).text).toBe("1\tone\n2\ttwo\n3\tthree");
    expect((await run("read", { path: "a.txt", offset: 2, limit: 1 })).text).toBe("2\ttwo\n… 1 more lines");
    expect(await run("read", { path: "a.txt", offset: 9 })).toMatchObject({ outcome: "failed" });
  });

  it("refuses bytes that are no text, and files too large", async () => {
    writeFileSync(at("bin"), Buffer.from([1, 0, 2]));
    execFileSync("truncate", ["-s", "2G", at("huge")]);
    expect((await run("read", { path: "bin" })).text).toContain("not a text file");
    expect((await run("read", { path: "huge" })).text).toContain("use bash");
  });

  it("writes a new file into new folders, and tells what changed", async () => {
    const result = await run("write", { path: "x/y/z.txt", content: "hi" });
    expect(result.diffs).toEqual([{ path: "x/y/z.txt", before: null, after: "hi" }]);
    expect(readFileSync(at("x/y/z.txt"), "utf8")).toBe("hi");
  });

  it.each([
    ["once", { old_text: "two", new_text: "2" }, "one\n2\nthree\n"],
    ["everywhere if told", { old_text: "o", new_text: "0", replace_all: true }, "0ne\ntw0\nthree\n"],
    ["with signs that mean something elsewhere", { old_text: "two", new_text: "$&$1" }, "one\n$&$1\nthree\n"],
  ])("edits %s", async (_, edit, expected) => {
    expect(await run("edit", { path: "a.txt", ...edit })).toMatchObject({ outcome: "ok" });
    expect(readFileSync(at("a.txt"), "utf8")).toBe(expected);
  });

  it.each([
    ["text that is not there", { old_text: "four", new_text: "4" }, "does not stand"],
    ["text that is there twice", { old_text: "o", new_text: "0" }, "2 times"],
  ])("refuses to edit %s", async (_, edit, words) => {
    expect((await run("edit", { path: "a.txt", ...edit })).text).toContain(words);
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });

  it("says what does not fit in the arguments", async () => {
    expect((await run("read", { file: "a.txt" })).text).toContain("path");
  });
});

describe("bash", () => {
  it("gives both streams and the exit code, and records its process", async () => {
    const result = await run("bash", { command: "echo out; echo err >&2; exit 2" });
    expect(result).toEqual({ outcome: "failed", text: "out\nerr\n\n[exit code 2]" });
    expect(recorded.map(({ type }) => type)).toEqual(["process.started", "process.exited"]);
  });

  it("stops at its timeout, with what it left in the group", async () => {
    const result = await run("bash", { command: "sleep 60 & sleep 60", timeout_ms: 50 }, undefined, "timeout-1");
    expect(result.outcome).toBe("timed_out");
    expect(processesMarked("timeout-1")).toEqual([]);
  });

  it("does not wait for a background process that holds its output", async () => {
    const result = await run("bash", { command: "sleep 60 & echo done" }, undefined, "background-1");
    expect(result).toMatchObject({ outcome: "ok", text: "done\n\n[exit code 0]" });
    expect(processesMarked("background-1")).toEqual([]);
  });

  it("keeps the beginning and the end of a flood", async () => {
    const { text } = await run("bash", { command: "echo first; seq 1 200000; echo last" });
    expect(text.length).toBeLessThan(40_000);
    expect(text).toMatch(/^first\n[^]*left out[^]*last\n\n\[exit code 0\]$/);
  });

  it("is cancelled at once, also where TERM is ignored", async () => {
    const controller = new AbortController();
    const running = run(
      "bash",
      { command: "trap '' TERM; echo up; while :; do sleep 1; done" },
      controller.signal,
      "c-1",
    );
    controller.abort();
    expect((await running).outcome).toBe("cancelled");
    expect(processesMarked("c-1")).toEqual([]);
  });
});
