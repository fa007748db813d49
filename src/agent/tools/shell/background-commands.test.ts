import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { processesMarked } from "../../../stdx/index.ts";
import { openScene, type Scene } from "../test-scene.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

const start = (command: string) => scene.run("bash", { command, background: true });
const output = (wait_ms = 60_000) => scene.run("bash_output", { handle: "bash-1", wait_ms });

it("returns the output since the last call, and the exit code", async () => {
  expect((await start("read x; echo got $x; read y; echo bye; exit 3")).text).toContain("started bash-1");
  expect((await output(0)).text).toBe("[bash-1 is running]");
  expect(await scene.run("bash_input", { handle: "bash-1", text: "one\n" })).toMatchObject({ outcome: "ok" });
  expect((await output()).text).toBe("got one\n\n[bash-1 is running]");
  await scene.run("bash_input", { handle: "bash-1", text: "", end: true });
  await vi.waitFor(() => expect(scene.recorded.at(-1)).toMatchObject({ type: "process.exited", exitCode: 3 }));
  expect((await output()).text).toBe("bye\n\n[bash-1 has ended: exit code 3]");
  expect((await output()).text).toBe("[bash-1 has ended: exit code 3]");
  expect((await scene.run("bash_input", { handle: "bash-1", text: "x" })).text).toContain("accepts no input");
});

it("rejects a handle from before the session was reopened, and says that the command has ended", async () => {
  expect((await output()).text).toMatch(/no background command bash-1: there are none.*have ended/);
});

it("kills a command with every process that it started", async () => {
  await start("setsid sleep 60 & until pgrep -g $! >/dev/null; do :; done; echo up; sleep 60");
  await output();
  expect((await scene.run("bash_kill", { handle: "bash-1" })).text).toContain("has ended: killed by SIGTERM");
  expect(processesMarked(scene.marker)).toEqual([]);
});

it("stops waiting for output when it is cancelled", async () => {
  await start("sleep 60");
  const controller = new AbortController();
  const waiting = scene.run("bash_output", { handle: "bash-1", wait_ms: 60_000 }, { signal: controller.signal });
  controller.abort();
  expect(await waiting).toMatchObject({ outcome: "cancelled" });
});

it("limits the number of running commands", async () => {
  for (let count = 0; count < 16; count += 1) expect(await start("sleep 60")).toMatchObject({ outcome: "ok" });
  expect((await start("sleep 60")).text).toContain("which is the maximum");
  await scene.run("bash_kill", { handle: "bash-1" });
  expect(await start("sleep 60")).toMatchObject({ outcome: "ok" });
});
