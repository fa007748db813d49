import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { processesMarked } from "../../stdx/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { openScene, type Scene } from "./test-scene.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

/** One call for every tool that takes a path. */
const attempts = (path: string): readonly (readonly [string, object])[] => [
  ["read", { path }],
  ["write", { path, content: "changed" }],
  ["edit", { path, old_text: "secret", new_text: "changed" }],
  ["list", { path }],
  ["glob", { path, pattern: "**" }],
  ["grep", { path, pattern: "secret" }],
];

async function expectNoAccess(path: string): Promise<void> {
  for (const [name, input] of attempts(path)) {
    const { outcome, text } = await scene.run(name, input);
    expect([name, outcome, text.includes("secret\n")]).toEqual([name, "failed", false]);
  }
  expect(readdirSync(scene.outside)).toEqual(["secret"]);
  expect(readFileSync(join(scene.outside, "secret"), "utf8")).toBe("secret\n");
}

describe("a path", () => {
  it.each([
    ["above the working directory", () => "../x"],
    ["that climbs out later", () => "sub/../../x"],
    ["that is absolute", () => join(scene.outside, "secret")],
    ["that shares a prefix with the working directory", () => `${scene.folder}x/secret`],
    ["in /proc", () => "/proc/self/environ"],
    ["through /proc/self/cwd", () => "/proc/self/cwd/../secret"],
    ["to a device", () => "/dev/zero"],
    ["through a symlink to a directory", () => "way-out/secret"],
    ["that is a symlink to a directory", () => "way-out"],
    ["that is a symlink to a file", () => "link"],
    ["through two symlinks", () => "inner/secret"],
    ["that is a dangling symlink", () => "dangling"],
    ["that is a symlink to itself", () => "loop"],
    ["that is a symlink to a device", () => "device"],
    ["with a NUL character", () => "a\0b"],
  ])("%s is rejected by every tool", async (_, path) => {
    mkdirSync(scene.at("sub"));
    symlinkSync(scene.outside, scene.at("way-out"));
    symlinkSync(join(scene.outside, "secret"), scene.at("link"));
    symlinkSync(join(scene.outside, "new"), scene.at("dangling"));
    symlinkSync("loop", scene.at("loop"));
    symlinkSync("way-out", scene.at("inner"));
    symlinkSync("/dev/zero", scene.at("device"));
    await expectNoAccess(path());
  });

  it("does not lead out of the working directory during a search", async () => {
    symlinkSync(scene.outside, scene.at("way-out"));
    symlinkSync(join(scene.outside, "secret"), scene.at("link"));
    for (const input of [{}, { ignored: true }]) {
      expect((await scene.run("grep", { pattern: "secret", ...input })).text).toBe("no matches for secret");
      expect((await scene.run("glob", { pattern: "**/secret", ...input })).text).toContain("no file matches");
    }
  });

  it("with line breaks or invalid bytes in its name is listed on one line, and is readable if the name is valid", async () => {
    writeFileSync(scene.at("a\nb"), "odd\n");
    writeFileSync(Buffer.concat([Buffer.from(`${scene.folder}/`), Buffer.from([0xff, 0xfe])]), "no name\n");
    expect(await scene.run("read", { path: "a\nb" })).toMatchObject({ outcome: "ok", text: "1\todd" });
    expect((await scene.run("list", {})).text.split("\n")).toEqual(['"a\\nb"', '"\ufffd\ufffd"']);
    expect((await scene.run("read", { path: "\ufffd\ufffd" })).text).toContain("does not exist");
  });

  it("in an allowed directory is accessible, and one beside it is not", async () => {
    await using beside = await temporaryFolder();
    await using allowed = await openScene({ folders: [beside.path] });
    const path = join(beside.path, "x");
    expect(await allowed.run("write", { path, content: "hi\n" })).toMatchObject({ outcome: "ok" });
    expect((await allowed.run("grep", { path: beside.path, pattern: "h" })).text).toBe(`${path}:1:hi`);
    expect(await allowed.run("read", { path: join(beside.path, "../x") })).toMatchObject({ outcome: "failed" });
  });
});

describe("a special file", () => {
  it("is rejected with a message and does not block", async () => {
    execFileSync("mkfifo", [scene.at("fifo")]);
    mkdirSync(scene.at("folder"));
    expect((await scene.run("read", { path: "fifo" })).text).toContain("not a regular file");
    expect((await scene.run("write", { path: "fifo", content: "" })).text).toContain("not a regular file");
    expect((await scene.run("read", { path: "folder" })).text).toContain("a folder");
    expect((await scene.run("grep", { pattern: "x" })).text).toBe("no matches for x");
  });

  it("that is a hard link can be edited without changing the other link", async () => {
    linkSync(join(scene.outside, "secret"), scene.at("hard"));
    await scene.run("read", { path: "hard" });
    const input = { path: "hard", old_text: "secret", new_text: "changed" };
    expect(await scene.run("edit", input)).toMatchObject({ outcome: "ok" });
    expect(readFileSync(join(scene.outside, "secret"), "utf8")).toBe("secret\n");
  });

  it("of 2 GB is read only in ranges", async () => {
    execFileSync("truncate", ["-s", "2G", scene.at("empty")]);
    writeFileSync(scene.at("large"), "line\n".repeat(3_000_000));
    expect((await scene.run("read", { path: "empty" })).text).toContain("(2147483648 bytes)");
    const { text } = await scene.run("read", { path: "large", offset: 2_999_999 });
    expect(text).toMatch(/^2999999\tline\n3000000\tline\n… the file has 15000000 bytes/);
    expect((await scene.run("read", { path: "large", offset: 3_000_001 })).text).toContain("only 3000000 lines");
    expect((await scene.run("grep", { pattern: "line" })).text).toBe("no matches for line");
  });
});

/** Swaps a directory and a symlink to the outside back and forth, as fast as possible, until it is stopped. */
const SWAPPER = `
const { renameSync } = require("node:fs");
const { workerData: { inside, away, link, flag } } = require("node:worker_threads");
const stop = new Int32Array(flag);
const rest = () => Math.random() < 0.5 && Atomics.wait(stop, 0, 0, Math.random() * 3);
while (Atomics.load(stop, 0) === 0) {
  rest();
  try {
    renameSync(inside, away);
    renameSync(link, inside);
    Atomics.add(stop, 1, 1);
    rest();
    renameSync(inside, link);
    renameSync(away, inside);
  } catch {}
}`;

describe.runIf(process.platform === "linux")("a directory that becomes a symlink between the check and the use", () => {
  it.each([
    ["read", 1_000],
    ["write", 400],
    ["edit", 400],
    ["list", 1_500],
    ["grep", 800],
  ])("does not let %s leave the working directory", { timeout: 120_000 }, async (tool, rounds) => {
    const [inside, away, link] = [scene.at("sub"), scene.at(".away"), scene.at(".link")];
    mkdirSync(inside);
    writeFileSync(join(inside, "secret"), "plain\n");
    symlinkSync(scene.outside, link);
    writeFileSync(join(scene.outside, "only-outside"), "secret\n");
    await scene.run("read", { path: "sub/secret" });
    const flag = new SharedArrayBuffer(8);
    const swaps = new Int32Array(flag);
    const swapper = new Worker(SWAPPER, { eval: true, workerData: { inside, away, link, flag } });
    const outcomes = new Set<string>();
    let content = "plain";
    try {
      await vi.waitFor(() => expect(Atomics.load(swaps, 1)).toBeGreaterThan(0));
      for (let round = 0; round < rounds; round += 1) {
        const path = "sub/secret";
        const next = `plain ${round}`;
        const inputs: Record<string, object> = {
          read: { path },
          write: { path: round % 2 === 0 ? path : `sub/new-${round}/x`, content: next },
          edit: { path, old_text: content, new_text: next },
          list: { path: "sub", ignored: round % 2 === 0 },
          grep: { path: "sub", pattern: "^secret", ignored: round % 2 === 0 },
        };
        const { outcome, text } = await scene.run(tool, inputs[tool] ?? {});
        outcomes.add(outcome);
        if (tool === "edit" && outcome === "ok") content = next;
        expect(text).not.toMatch(/\tsecret|:secret|only-outside/);
      }
    } finally {
      Atomics.store(swaps, 0, 1);
      await new Promise((resolve) => swapper.once("exit", resolve));
    }
    expect(Atomics.load(swaps, 1)).toBeGreaterThan(10); // otherwise there was no race
    expect(outcomes).toContain("ok");
    expect(readdirSync(scene.outside).sort()).toEqual(["only-outside", "secret"]);
    expect(readFileSync(join(scene.outside, "secret"), "utf8")).toBe("secret\n");
  });
});

describe("a process that tries to outlive its call", () => {
  it.each([
    ["leaves its group", "setsid sleep 60 & sleep 0.1"],
    ["forks twice", "(setsid sh -c 'sleep 60 & sleep 60' &) & sleep 0.1"],
    ["ignores SIGHUP", "nohup sleep 60 >/dev/null 2>&1 & disown; sleep 0.1"],
    ["ignores SIGTERM", "(trap '' TERM HUP INT; while :; do sleep 1; done) & sleep 0.1"],
    [
      "forks repeatedly",
      'f() { [ $1 -gt 5 ] && exec sleep 60; f $(($1+1)) & f $(($1+1)) & wait; }; setsid bash -c "$(declare -f f); f 0" & sleep 0.5',
    ],
  ])("is killed with the call even if it %s", async (_, command) => {
    expect(await scene.run("bash", { command })).toMatchObject({ outcome: "ok" });
    expect(processesMarked(scene.marker)).toEqual([]);
  });

  it("is killed with the agent even if it runs in the background and left its group", async () => {
    const command =
      "trap '' TERM; setsid sleep 60 & until pgrep -g $! >/dev/null; do :; done; echo up; while :; do sleep 1; done";
    const { text } = await scene.run("bash", { command, background: true });
    expect(text).toContain("started bash-1");
    expect((await scene.run("bash_output", { handle: "bash-1", wait_ms: 60_000 })).text).toBe(
      "up\n\n[bash-1 is running]",
    );
    expect(processesMarked(scene.marker).length).toBeGreaterThan(1);
    await scene.tools[Symbol.asyncDispose]();
    expect(processesMarked(scene.marker)).toEqual([]);
    expect(scene.recorded.map(({ type }) => type)).toEqual(["process.started", "process.exited"]);
    expect((await scene.run("bash", { command: "true", background: true })).text).toContain("session was closed");
  });

  it("does not fill the memory if it prints forever", async () => {
    await scene.run("bash", { command: "yes", background: true });
    await scene.run("bash_output", { handle: "bash-1", wait_ms: 60_000 });
    await vi.waitFor(async () => {
      const { text } = await scene.run("bash_output", { handle: "bash-1" });
      expect(text).toContain("omitted");
      expect(text.length).toBeLessThan(31_000);
    });
    expect((await scene.run("bash_kill", { handle: "bash-1" })).text).toContain("has ended: killed by");
    expect(processesMarked(scene.marker)).toEqual([]);
  });
});
