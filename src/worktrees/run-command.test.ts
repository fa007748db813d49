import { expect, it, vi } from "vitest";
import { processesMarked } from "../stdx/index.ts";
import { temporaryFolder } from "../testing/repository.ts";
import { MAX_OUTPUT_BYTES, runCommand, type ShellCommandResult } from "./run-command.ts";
import { expectRejection, testEnvironment } from "./test-scene.ts";

const MARKER = `command-test-${process.pid}`;

async function run(command: string, more: { timeoutMs?: number; signal?: AbortSignal; cwd?: string } = {}) {
  await using folder = await temporaryFolder();
  const outputs: string[] = [];
  const env = { ...testEnvironment(folder.path), GIT_DIR: "/elsewhere", TASK: "t1" };
  const options = { cwd: folder.path, timeoutMs: 60_000, ...more };
  const result: ShellCommandResult = await runCommand({
    command,
    env,
    marker: MARKER,
    onOutput: (text) => outputs.push(text),
    ...options,
  });
  return { ...result, output: outputs.join("") };
}

it("runs a command in a shell with the given variables and returns its output and exit code", async () => {
  const ended = await run(`echo "$TASK [$GIT_DIR]"; echo wrong >&2; exit 3`);
  expect(ended).toMatchObject({ exitCode: 3, timedOut: false });
  expect(ended.output).toContain("t1 []\n");
  expect(ended.tail).toContain("wrong\n");
});

it("kills a command that times out, including processes that left its group", async () => {
  const ended = await run("setsid sleep 1000 & sleep 1000", { timeoutMs: 300 });
  expect(ended).toMatchObject({ timedOut: true, exitCode: null });
  expect(processesMarked(MARKER)).toEqual([]);
});

it("kills background processes when the command exits, without waiting for them", async () => {
  expect(await run("sleep 1000 & echo done")).toMatchObject({ exitCode: 0, output: "done\n" });
  expect(processesMarked(MARKER)).toEqual([]);
});

it("passes output on up to the limit and counts the omitted bytes", async () => {
  const ended = await run("head -c 20000000 /dev/zero | tr '\\0' x; echo the end");
  expect(ended.output.length).toBeLessThan(MAX_OUTPUT_BYTES + 100);
  expect(ended.output).toMatch(/… \d+ bytes omitted\n$/);
  expect(ended.tail).toMatch(/x+the end\n$/);
});

it("rejects with the signal's reason", async () => {
  const controller = new AbortController();
  const running = run("sleep 1000", { signal: controller.signal });
  await vi.waitFor(() => expect(processesMarked(MARKER)).not.toEqual([]));
  controller.abort(new Error("given up"));
  await expect(running).rejects.toThrow("given up");
  expect(processesMarked(MARKER)).toEqual([]);
});

it("names a working directory that does not exist", async () => {
  await expectRejection(run("true", { cwd: "/nowhere/at all" }), "cwd_missing", /nowhere/);
});
