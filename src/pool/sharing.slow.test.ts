import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { ownIdentity } from "../stdx/index.ts";
import { openScene } from "./test-scene.ts";

it("keeps the tasks of one runTasks call when another call in the same process ends", async () => {
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

it("does not collect a worktree whose task another process holds", async () => {
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
  expect(kept).toMatchObject([
    { id: "merged", why: expect.stringContaining("is in use by another process") as string },
  ]);
  expect(existsSync(worktree?.path ?? "")).toBe(true);
  await s.rookery.store.releaseLease(lease);
  expect((await s.tasks.collect({ quota: 0 })).removed).toMatchObject([{ id: "merged" }]);
});

it("requires force to remove a task whose repository was deleted", async () => {
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

it("continues a task whose worktree was collected from the branch it was merged into", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "again", prompt: "run: echo one > one" });
  await s.until("again", "done");
  await s.tasks.merge("again", { how: "squash" });
  await s.tasks.collect({ quota: 0 });
  await s.tasks.resume("again", { prompt: "run: cat one > two" });
  const { worktree } = await s.until("again", "done");
  expect(worktree).toMatchObject({ base: "main", baseCommit: await s.repository.git("rev-parse", "main") });
  expect(await s.repository.git("show", "rookery/again:two")).toBe("one");
});

it("never commits files that were copied into a worktree, even if the configuration changes", async () => {
  await using s = await openScene({ toml: `[worktree]\ncopy = [".env"]\n` });
  await s.repository.write(".env", "SECRET=1\n");
  s.run();
  const wait = `until [ -e "$TMPDIR/go" ]; do sleep 0.05; done`;
  await s.tasks.start({ id: "secret", prompt: `run: touch x; ${wait}` });
  await vi.waitFor(async () => expect((await s.tasks.show("secret")).sessions).toHaveLength(1), 10_000);
  const file = join(s.repository.path, "rookery.toml");
  await writeFile(file, (await readFile(file, "utf8")).replace(/\[worktree\][^]*/, ""));
  await writeFile(join(s.folder, "go"), "");
  await s.until("secret", "done");
  expect(await s.repository.git("ls-tree", "--name-only", "rookery/secret")).toBe("README.md\nagent.sh\nx");
});

it("finds a task by its status behind other tasks of the same phase", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "old", prompt: "run: sleep 60" });
  await s.tasks.start({ id: "new", prompt: "run: sleep 60" });
  await s.until("old", "running");
  await s.until("new", "running");
  await vi.waitFor(async () => {
    const { store } = s.rookery;
    const [session] = await store.list({ task: "old" });
    const { id: sessionId = "", head = 0 } = session ?? {};
    const { events } = await store.read({ sessionId });
    const { turnId } = events.find(({ type }) => type === "turn.started") ?? {};
    expect(turnId).toBeDefined();
    const asked = { type: "question.asked" as const, requestId: "r1", message: "Which?", turnId };
    const draft = { ...asked, agent: "robin", at: new Date().toISOString() };
    await store.append({ sessionId, id: "asked", expectedHead: head, events: [draft] });
  }, 10_000);
  expect((await s.tasks.list({ status: ["waiting"], limit: 1 })).map(({ id }) => id)).toEqual(["old"]);
  expect((await s.tasks.list({ status: ["running"], limit: 1 })).map(({ id }) => id)).toEqual(["new"]);
});

it("reports that a task can never run if a task that it needs was removed", async () => {
  await using s = await openScene();
  await s.tasks.start({ id: "first", prompt: "run: true" });
  await s.tasks.start({ id: "second", prompt: "run: true", needs: ["first"] });
  await s.tasks.stop("first");
  await s.tasks.remove("first");
  expect((await s.tasks.show("second")).message).toMatch(/needs first, which was removed before it was done/);
});
