import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openScene } from "./test-scene.ts";

it("keeps the port of a queued task, and releases it when the task is stopped without running", async () => {
  await using s = await openScene();
  const other = await s.open();
  void other.runTasks();
  await s.tasks.start({ id: "left", prompt: "run: sleep 1000" });
  const { worktree } = await s.until("left", "running");
  await other.close();
  const ports = () => readdir(join(s.home, "ports"));
  expect((await s.tasks.show("left")).status).toBe("queued");
  expect(await ports()).toEqual([String(worktree?.port)]);
  expect((await s.tasks.stop("left")).status).toBe("stopped");
  expect(await ports()).toEqual([]);
});
