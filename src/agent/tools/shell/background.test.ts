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

it("gives what was printed since the last time, and the end", async () => {
  expect((await start("read x; echo got $x; read y; echo bye; exit 3")).text).toContain("started bash-1");
  expect((await output(0)).text).toBe("[bash-1 runs]");
  expect(await scene.run("bash_input", { handle: "bash-1", text: "one\n" })).toMatchObject({ outcome: "ok" });
  expect((await output()).text).toBe("got one\n\n[bash-1 runs]");
  await scene.run("bash_input", { handle: "bash-1", text: "", end: true });
  await vi.waitFor(() => expect(scene.recorded.at(-1)).toMatchObject({ type: "process.exited", exitCode: 3 }));
  expect((await output()).text).toBe("bye\n\n[bash-1 has ended: exit code 3]");
  expect((await output()).text).toBe("[bash-1 has ended: exit code 3]");
  expect((await scene.run("bash_input", { handle: "bash-1", text: "x" })).text).toContain("takes no input any more");
});

it("knows no handle of an earlier opening, and says what became of it", async () => {
  expect((await output()).text).toMatch(/no background command bash-1: there is none.*has been ended/);
});

it("ends one with all that it started", async () => {
  await start("setsid sleep 60 & until pgrep -g $! >/dev/null; do :; done; echo up; sleep 60");
  await output();
  expect((await scene.run("bash_kill", { handle: "bash-1" })).text).toContain("has ended: killed by SIGTERM");
  expect(processesMarked(scene.marker)).toEqual([]);
});

it("stops waiting when it is cancelled", async () => {
  await start("sleep 60");
  const controller = new AbortController();
  const waiting = scene.run("bash_output", { handle: "bash-1", wait_ms: 60_000 }, { signal: controller.signal });
  controller.abort();
  expect(await waiting).toMatchObject({ outcome: "cancelled" });
});

it("starts no more than so many at once", async () => {
  for (let count = 0; count < 16; count += 1) expect(await start("sleep 60")).toMatchObject({ outcome: "ok" });
  expect((await start("sleep 60")).text).toContain("no more may");
  await scene.run("bash_kill", { handle: "bash-1" });
  expect(await start("sleep 60")).toMatchObject({ outcome: "ok" });
});
