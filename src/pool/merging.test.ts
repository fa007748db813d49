import { expect, it } from "vitest";
import { openScene } from "./test-scene.ts";

it("a task that is merged and asked to be merged again is merged once, and known to be", async () => {
  await using s = await openScene();
  s.run();
  await s.tasks.start({ id: "twice", prompt: "run: echo one > one.txt" });
  await s.until("twice", "done");
  const { commit } = await s.tasks.merge("twice", { how: "squash" });
  expect(await s.tasks.merge("twice", { how: "squash" })).toMatchObject({ outcome: "merged", commit, commits: 0 });
  expect((await s.tasks.show("twice")).merge).toMatchObject({ outcome: "merged", commit });
  expect(await s.repository.git("rev-list", "--count", "main")).toBe("2");
  await s.repository.git("commit", "--quiet", "--allow-empty", "--message=More");
  expect((await s.tasks.collect({ quota: 0 })).removed.map(({ id }) => id)).toEqual(["twice"]);
});

it("what is added to a task that was merged is merged too", async () => {
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
