import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFile,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RookeryError, type EventBody, type ToolContext } from "../../domain/index.ts";
import { processesMarked, startGroup } from "../../stdx/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/index.ts";
import { createCodingTools, type CodingTools } from "./index.ts";

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

let tools: CodingTools;
beforeEach(() => {
  tools = createCodingTools({ env: { PATH: process.env["PATH"] } });
});
afterEach(() => tools[Symbol.asyncDispose]());

const at = (name: string) => join(folder.path, name);

/** A marker that is unique to this run, so that another run on the same machine does not find its processes. */
const marked = (name: string) => `${name}-${process.pid}`;

function run(name: string, input: unknown, more: Partial<ToolContext> = {}) {
  const context: ToolContext = {
    cwd: folder.path,
    signal: new AbortController().signal,
    marker: marked("tools"),
    progress: () => undefined,
    ask: () => Promise.resolve({ action: "decline" as const }),
    putBlob: () => Promise.resolve(""),
    getBlob: () => Promise.resolve(undefined),
    record: (body) => Promise.resolve(void recorded.push(body)),
    ...more,
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
    ["a path that climbs out later", "sub/../../x"],
    ["a symlink to a directory", "way-out/secret"],
    ["a new file behind a symlink to a directory", "way-out/new"],
    ["a symlink to a file", "link"],
    ["a dangling symlink", "dangling"],
    ["a symlink to itself", "loop"],
    ["a FIFO", "fifo"],
    ["a directory", "sub"],
    ["a file used as a directory", "a.txt/b"],
  ])("rejects %s in every file tool and changes nothing", async (_, path) => {
    expect(await run("read", { path })).toMatchObject({ outcome: "failed" });
    expect(await run("write", { path, content: "x" })).toMatchObject({ outcome: "failed" });
    expect(await run("edit", { path, old_text: "s", new_text: "x" })).toMatchObject({ outcome: "failed" });
    expect(readFileSync(join(outside.path, "secret"), "utf8")).toBe("secret");
    expect(execFileSync("ls", [outside.path], { encoding: "utf8" })).toBe("secret\n");
  });

  it("follows a symlink that stays inside", async () => {
    expect(await run("read", { path: "inside" })).toMatchObject({ outcome: "ok" });
  });
});

describe("files", () => {
  it("reads with line numbers, and reads a range of lines", async () => {
    expect((await run("read", { path: "a.txt" })).text).toBe("1\tone\n2\ttwo\n3\tthree");
    expect((await run("read", { path: "a.txt", offset: 2, limit: 1 })).text).toBe("2\ttwo\n… 1 more lines");
    expect(await run("read", { path: "a.txt", offset: 9 })).toMatchObject({ outcome: "failed" });
  });

  it("rejects binary files and files that are too large", async () => {
    writeFileSync(at("bin"), Buffer.from([1, 0, 2]));
    execFileSync("truncate", ["-s", "2G", at("huge")]);
    expect((await run("read", { path: "bin" })).text).toContain("not a text file");
    expect((await run("read", { path: "huge" })).text).toContain("use bash");
  });

  it("writes a new file into new directories and returns the diff", async () => {
    const result = await run("write", { path: "x/y/z.txt", content: "hi" });
    expect(result.diffs).toEqual([{ path: "x/y/z.txt", before: null, after: "hi" }]);
    expect(readFileSync(at("x/y/z.txt"), "utf8")).toBe("hi");
  });

  it.each([
    ["once", { old_text: "two", new_text: "2" }, "one\n2\nthree\n"],
    ["everywhere with replace_all", { old_text: "o", new_text: "0", replace_all: true }, "0ne\ntw0\nthree\n"],
    ["with replacement patterns as plain text", { old_text: "two", new_text: "$&$1" }, "one\n$&$1\nthree\n"],
  ])("edits %s", async (_, edit, expected) => {
    await run("read", { path: "a.txt" });
    expect(await run("edit", { path: "a.txt", ...edit })).toMatchObject({ outcome: "ok" });
    expect(readFileSync(at("a.txt"), "utf8")).toBe(expected);
  });

  it.each([
    ["text that does not occur", { old_text: "four", new_text: "4" }, "was not found"],
    ["text that occurs twice", { old_text: "o", new_text: "0" }, "2 times"],
  ])("refuses to edit %s", async (_, edit, words) => {
    await run("read", { path: "a.txt" });
    expect((await run("edit", { path: "a.txt", ...edit })).text).toContain(words);
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });

  it("names the invalid argument", async () => {
    expect((await run("read", { file: "a.txt" })).text).toContain("path");
  });

  it.each([
    ["read", { path: "a\0b" }],
    ["write", { path: "a\0b", content: "" }],
    ["edit", { path: "a\0b", old_text: "a", new_text: "b" }],
    ["bash", { command: "echo a\0b" }],
  ])("%s rejects a NUL character", async (name, input) => {
    expect(await run(name, input)).toMatchObject({ outcome: "failed", text: expect.stringContaining("NUL") as string });
  });

  it("neither reads nor changes a file that is not valid UTF-8", async () => {
    const bytes = Buffer.from("caf\xe9 foo\n", "latin1");
    writeFileSync(at("latin1"), bytes);
    for (const [name, more] of [
      ["read", {}],
      ["edit", { old_text: "foo", new_text: "bar" }],
      ["write", { content: "new" }],
    ] as const) {
      expect((await run(name, { path: "latin1", ...more })).text).toContain("not valid UTF-8");
    }
    expect(readFileSync(at("latin1"))).toEqual(bytes);
  });

  it("keeps the byte order mark and CRLF line endings", async () => {
    writeFileSync(at("windows"), "\ufeffone\r\ntwo\r\n");
    await run("read", { path: "windows" });
    expect(await run("edit", { path: "windows", old_text: "two", new_text: "2" })).toMatchObject({ outcome: "ok" });
    expect(readFileSync(at("windows"), "utf8")).toBe("\ufeffone\r\n2\r\n");
  });

  it.runIf(process.platform === "linux")("keeps the old content if the new one does not fit on the disk", async () => {
    const before = readdirSync(folder.path);
    const limit = (size: string) => execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${size}:`]);
    limit("100000");
    try {
      const long = "x".repeat(200_000);
      await run("read", { path: "a.txt" });
      const results = [
        await run("write", { path: "a.txt", content: long }),
        await run("edit", { path: "a.txt", old_text: "two", new_text: long }),
        await run("write", { path: "new.txt", content: long }),
      ];
      expect(results.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
    } finally {
      limit("unlimited");
    }
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(readdirSync(folder.path)).toEqual(before);
  });

  it("keeps the mode of a replaced file, and uses the umask for a new one", async () => {
    const usual = statSync(at("a.txt")).mode;
    chmodSync(at("a.txt"), 0o751);
    symlinkSync("a.txt", at("link"));
    await run("read", { path: "a.txt" });
    expect(await run("write", { path: "link", content: "new" })).toMatchObject({ outcome: "ok" });
    await run("write", { path: "new.txt", content: "" });
    expect(statSync(at("a.txt")).mode & 0o777).toBe(0o751);
    expect(statSync(at("new.txt")).mode).toBe(usual);
    expect(realpathSync(at("link"))).toBe(realpathSync(at("a.txt")));
    expect(readFileSync(at("a.txt"), "utf8")).toBe("new");
    expect(readdirSync(folder.path).sort()).toEqual(["a.txt", "link", "new.txt"]);
  });

  it.skipIf(process.getuid?.() === 0)("does not replace a read-only file", async () => {
    await run("read", { path: "a.txt" });
    chmodSync(at("a.txt"), 0o444);
    expect(await run("write", { path: "a.txt", content: "new" })).toMatchObject({ outcome: "failed" });
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });

  it.each([1, 2])("never splits a surrogate pair, shifted by %i", async (shift) => {
    const content = " ".repeat(shift) + "😀".repeat(60_000);
    const { diffs } = await run("write", { path: "birds", content });
    const { text } = await run("read", { path: "birds" });
    expect(text).toContain("omitted");
    expect([text, diffs?.[0]?.after ?? ""].filter((piece) => !piece.isWellFormed())).toEqual([]);
  });
});

function cancellable(name: string) {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(), marker: marked(name) };
}

describe("bash", () => {
  it.each([
    ["ls", "bash: ls"],
    ["ls\nrm -rf .", "bash: ls … (+1 line)"],
    [`echo ${"x".repeat(200)}; rm x`, `bash: echo ${"x".repeat(115)}…`],
  ])("shows in its title that %j was shortened", (command, title) => {
    expect(tools.describe({ toolId: "t", name: "bash", input: { command } }).title).toBe(title);
  });

  it("returns both streams and the exit code, and records its process", async () => {
    const result = await run("bash", { command: "echo out; echo err >&2; exit 2" });
    expect(result).toEqual({ outcome: "failed", text: "out\nerr\n\n[exit code 2]" });
    expect(recorded.map(({ type }) => type)).toEqual(["process.started", "process.exited"]);
  });

  it("stops the whole process group at its timeout", async () => {
    const marker = marked("timeout");
    const result = await run("bash", { command: "sleep 60 & sleep 60", timeout_ms: 50 }, { marker });
    expect(result.outcome).toBe("timed_out");
    expect(processesMarked(marker)).toEqual([]);
  });

  it("does not wait for a background process that holds its output", async () => {
    const marker = marked("background");
    const result = await run("bash", { command: "sleep 60 & echo done" }, { marker });
    expect(result).toMatchObject({ outcome: "ok", text: "done\n\n[exit code 0]" });
    expect(processesMarked(marker)).toEqual([]);
  });

  it("keeps the start and the end of long output", async () => {
    const { text } = await run("bash", { command: "echo first; seq 1 200000; echo last" });
    expect(text.length).toBeLessThan(40_000);
    expect(text).toMatch(/^first\n[^]*omitted[^]*last\n\n\[exit code 0\]$/);
    const [marker = "", left] = /\n… (\d+) characters omitted …\n/.exec(text) ?? [];
    const all =
      "first\nlast\n".length + Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join("").length;
    expect(Number(left) + text.length - marker.length - "\n[exit code 0]".length).toBe(all);
  });

  it("can be cancelled immediately even if the command ignores SIGTERM", async () => {
    const { signal, abort, marker } = cancellable("cancel");
    const command = "trap '' TERM; echo up; while :; do sleep 1; done";
    const running = run("bash", { command }, { signal, marker });
    abort();
    expect((await running).outcome).toBe("cancelled");
    expect(processesMarked(marker)).toEqual([]);
  });

  it.each([
    ["ends normally", "ok", {}, "exit 0"],
    ["times out", "timed_out", { timeout_ms: 300 }, "sleep 60"],
    ["is cancelled", "cancelled", {}, "echo cancel me; sleep 60"],
  ])(
    "kills processes that left its group when it %s, and no process of another call",
    async (_, outcome, more, then) => {
      const { signal, abort, marker } = cancellable("strays");
      const progress = (text: string): void => {
        if (text.includes("cancel me")) abort();
      };
      await using other = await startGroup("sleep", ["60"], { cwd: folder.path, env: {}, marker });
      const command = `setsid sleep 60 & until pgrep -g $! >/dev/null; do :; done; ${then}`;
      const result = await run("bash", { command, ...more }, { signal, marker, progress });
      expect(result.outcome).toBe(outcome);
      expect(processesMarked(marker)).toEqual([other.identity]);
    },
  );

  it("stops the command if its start cannot be recorded", async () => {
    const marker = marked("unrecorded");
    const record = () => Promise.reject(new RookeryError("store_full", "no space"));
    await expect(run("bash", { command: "setsid sleep 60 & sleep 60" }, { marker, record })).rejects.toThrow(
      "no space",
    );
    expect(processesMarked(marker)).toEqual([]);
  });

  it("loses no output while the process is busy", async () => {
    let busy: NodeJS.Timeout | undefined;
    const block = (): void => void execFileSync("sleep", ["0.6"]);
    // Blocks in an I/O callback: an expired timer then runs before the pipe is polled.
    const progress = (): void => void (busy ??= setTimeout(() => readFile(at("a.txt"), block), 100));
    const { text } = await run("bash", { command: "(sleep 0.25; echo late) & echo early" }, { progress });
    expect(text).toBe("early\nlate\n\n[exit code 0]");
  });

  it("waits for late output after the shell has ended", async () => {
    const { text } = await run("bash", { command: "(for i in 1 2 3 4; do sleep 0.1; echo $i; done) & true" });
    expect(text).toBe("1\n2\n3\n4\n\n[exit code 0]");
  });

  it("stops waiting for a background process that prints forever", async () => {
    const { text } = await run("bash", { command: "yes & echo started" });
    expect(text).toContain("[exit code 0]");
  });

  it.each([1, 2])("never splits a surrogate pair, shifted by %i", async (shift) => {
    const shown: string[] = [];
    const command = `printf '%${shift}s' ''; printf '😀%.0s' {1..60000}`;
    const { text } = await run("bash", { command }, { progress: (piece) => void shown.push(piece) });
    expect(text).toContain("omitted");
    expect([text, ...shown].filter((piece) => !piece.isWellFormed())).toEqual([]);
    const { title } = tools.describe({
      toolId: "t",
      name: "bash",
      input: { command: " ".repeat(shift) + "😀".repeat(90) },
    });
    expect(title.isWellFormed()).toBe(true);
  });
});
