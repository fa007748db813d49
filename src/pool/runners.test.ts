import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ownIdentity } from "../stdx/index.ts";
import { openScene } from "./test-scene.ts";

it("two that run tasks in one process do not end each other's", async () => {
  await using s = await openScene();
  await s.tasks.start({ id: "short", prompt: "run: true" });
  await s.tasks.start({ id: "long", prompt: `run: until [ -e "$TMPDIR/go" ]; do sleep 0.05; done` });
  const long = s.rookery.runTasks({ only: "long" });
  await s.until("long", "running");
  await s.rookery.runTasks({ only: "short" });
  await writeFile(join(s.folder, "go"), "");
  await long;
  expect(await s.tasks.show("long")).toMatchObject({ status: "done", runs: 1 });
});

it("a worktree whose task someone has taken meanwhile is not collected", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "merged", prompt: "run: touch x" });
  const { worktree } = await s.until("merged", "done");
  await s.tasks.merge("merged");
  const until = Date.now() + 60_000;
  const { pid, startTime } = ownIdentity();
  const owner = `${pid}.${startTime}.someone/1`;
  const lease = await s.rookery.store.acquireLease({ sessionId: "merged", owner, now: Date.now(), until });
  const { kept, removed } = await s.tasks.collect({ quota: 0 });
  expect(removed).toEqual([]);
  expect(kept).toMatchObject([{ id: "merged", why: expect.stringContaining("is being worked on") as string }]);
  expect(existsSync(worktree?.path ?? "")).toBe(true);
  await s.rookery.store.releaseLease(lease);
  expect((await s.tasks.collect({ quota: 0 })).removed).toMatchObject([{ id: "merged" }]);
});

it("a task whose repository is gone can be removed by who gives it up", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "homeless", prompt: "run: touch x" });
  await s.until("homeless", "done");
  await rm(s.repository.path, { recursive: true });
  const other = await s.open();
  await expect(other.tasks.remove("homeless")).rejects.toMatchObject({ code: "cwd_missing" });
  await other.tasks.remove("homeless", { force: true });
  expect(await other.tasks.list()).toEqual([]);
});
