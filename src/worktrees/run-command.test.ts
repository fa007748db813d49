import { expect, it, vi } from "vitest";
import { processesMarked } from "../stdx/index.ts";
import { temporaryFolder } from "../testing/repository.ts";
import { MAX_OUTPUT_BYTES, runCommand, type ShellCommandResult } from "./run-command.ts";
import { expectRejection, testEnvironment } from "./test-scene.ts";

const MARKER = `command-test-${process.pid}`;

async function run(command: string, more: { timeoutMs?: number; signal?: AbortSignal; cwd?: string } = {}) {
  await using folder = await temporaryFolder();
  const heard: string[] = [];
  const env = { ...testEnvironment(folder.path), GIT_DIR: "/elsewhere", TASK: "t1" };
  const options = { cwd: folder.path, timeoutMs: 60_000, ...more };
  const end: ShellCommandResult = await runCommand({
    command,
    env,
    marker: MARKER,
    onOutput: (text) => heard.push(text),
    ...options,
  });
  return { ...end, heard: heard.join("") };
}

it("a command gets the variables and a shell, and its output and exit code are told", async () => {
  const ended = await run(`echo "$TASK [$GIT_DIR]"; echo wrong >&2; exit 3`);
  expect(ended).toMatchObject({ exitCode: 3, timedOut: false });
  expect(ended.heard).toContain("t1 []\n");
  expect(ended.tail).toContain("wrong\n");
});

it("one that hangs is killed with all that it started, also what left its group", async () => {
  const ended = await run("setsid sleep 1000 & sleep 1000", { timeoutMs: 300 });
  expect(ended).toMatchObject({ timedOut: true, exitCode: null });
  expect(processesMarked(MARKER)).toEqual([]);
});

it("what is left in the background ends with the command, and does not hold it up", async () => {
  expect(await run("sleep 1000 & echo done")).toMatchObject({ exitCode: 0, heard: "done\n" });
  expect(processesMarked(MARKER)).toEqual([]);
});

it("a flood is passed on up to a limit, and the rest is counted", async () => {
  const ended = await run("head -c 20000000 /dev/zero | tr '\\0' x; echo the end");
  expect(ended.heard.length).toBeLessThan(MAX_OUTPUT_BYTES + 100);
  expect(ended.heard).toMatch(/… \d+ bytes left out\n$/);
  expect(ended.tail).toMatch(/x+the end\n$/);
});

it("a signal ends it with its own reason", async () => {
  const controller = new AbortController();
  const running = run("sleep 1000", { signal: controller.signal });
  await vi.waitFor(() => expect(processesMarked(MARKER)).not.toEqual([]));
  controller.abort(new Error("given up"));
  await expect(running).rejects.toThrow("given up");
  expect(processesMarked(MARKER)).toEqual([]);
});

it("a folder that is not there is named", async () => {
  await expectRejection(run("true", { cwd: "/nowhere/at all" }), "cwd_missing", /nowhere/);
});
