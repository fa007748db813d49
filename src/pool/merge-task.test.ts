import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openScene } from "./test-scene.ts";

it("merges once if a merge is requested twice, and reports the same commit", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "twice", prompt: "run: echo one > one.txt" });
  await s.until("twice", "done");
  const { commit } = await s.tasks.merge("twice", { how: "squash" });
  expect(await s.tasks.merge("twice", { how: "squash" })).toMatchObject({
    outcome: "merged",
    commit,
    commits: 0,
    already: true,
  });
  expect((await s.tasks.show("twice")).merge).toMatchObject({ outcome: "merged", commit });
  expect(await s.repository.git("rev-list", "--count", "main")).toBe("2");
  await s.repository.git("commit", "--quiet", "--allow-empty", "--message=More");
  expect((await s.tasks.collect({ quota: 0 })).removed.map(({ id }) => id)).toEqual(["twice"]);
});

it("merges later changes of a task that was already merged", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "more", prompt: "run: echo one > one.txt" });
  await s.until("more", "done");
  await s.tasks.merge("more");
  await s.tasks.resume("more", { prompt: "run: echo two > two.txt" });
  await s.until("more", "done");
  expect(await s.tasks.merge("more")).toMatchObject({ outcome: "merged", commits: 1 });
  expect(await s.repository.git("show", "main:two.txt")).toBe("two");
});

it("leaves no trace of a merge into a branch that does not exist", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "typo", prompt: "run: echo one > one.txt" });
  const { merge, worktree } = await s.until("typo", "done");
  expect(merge).toBeUndefined();
  const before = await s.rookery.store.readTask({ taskId: "typo" });
  await expect(s.tasks.merge("typo", { into: "nope" })).rejects.toMatchObject({ code: "base_not_found" });
  await expect(s.tasks.merge("typo", { into: worktree?.branch })).rejects.toMatchObject({ code: "input_invalid" });
  expect((await s.rookery.store.readTask({ taskId: "typo" })).head).toBe(before.head);
  expect((await s.tasks.show("typo")).merge).toBeUndefined();
});

it("reports how many uncommitted files of the checkout are not in the worktree", async () => {
  await using s = await openScene();
  await s.repository.git("add", "--all");
  await s.repository.git("commit", "--quiet", "--allow-empty", "--message=All");
  const clean = await s.tasks.start({ id: "clean", prompt: "run: true" });
  expect(clean.uncommitted).toBeUndefined();
  await s.repository.write("draft.txt", "x");
  await s.repository.write("notes/new.txt", "x");
  expect((await s.tasks.start({ id: "dirty", prompt: "run: true" })).uncommitted).toBe(2);
  expect((await s.tasks.start({ id: "based", prompt: "run: true", base: "main" })).uncommitted).toBeUndefined();
});

it("does not merge a task that is stopped while its gate runs", async () => {
  await using s = await openScene({
    toml: `[pipelines.p]\nstages = [{ agent = "robin" }, { merge = "merge", gate = 'touch "$TMPDIR/gate"; sleep 60' }]\n`,
  });
  s.run();
  await s.tasks.start({ id: "gated", prompt: "run: touch x", pipeline: "p" });
  await vi.waitFor(() => expect(existsSync(join(s.folder, "gate"))).toBe(true), 20_000);
  const { merge } = await s.tasks.stop("gated");
  expect(merge).toMatchObject({ outcome: "failed", message: expect.stringContaining("not merged") as string });
  expect(await s.repository.git("rev-list", "--count", "main")).toBe("1");
});

it("counts commits made after the merge of a dead process as unmerged", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "more", prompt: "run: echo one > one.txt" });
  const { worktree } = await s.until("more", "done");
  const tip = await s.repository.git("rev-parse", "rookery/more");
  await s.repository.git("merge", "--quiet", "--squash", "rookery/more");
  await s.repository.git("commit", "--quiet", "--message=Squashed");
  const commit = await s.repository.git("rev-parse", "main");
  const path = worktree?.path ?? "";
  await s.repository.git("-C", path, "commit", "--quiet", "--allow-empty", "--message=More");
  const { store } = s.rookery;
  const { head } = await store.readTask({ taskId: "more" });
  const at = new Date().toISOString();
  await store.appendTask({
    taskId: "more",
    id: "left",
    expectedHead: head,
    events: [
      { type: "merge.asked", mergeId: "mrg_1", how: "squash", into: "main", at },
      { type: "merge.prepared", mergeId: "mrg_1", commit, tip, at },
    ],
  });
  await vi.waitFor(async () => expect((await s.tasks.show("more")).merge?.outcome).toBe("merged"), 10_000);
  expect(await store.task("more")).toMatchObject({ merge: { tip, commit } });
  await expect(s.tasks.remove("more")).rejects.toMatchObject({ code: "worktree_unmerged" });
});
