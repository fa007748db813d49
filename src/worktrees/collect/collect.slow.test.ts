import { existsSync } from "node:fs";
import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MergeHow } from "../../domain/index.ts";
import { temporaryFolder } from "../../testing/repository.ts";
import { leaseWorktree } from "../lease.ts";
import { mergeBranch } from "../merge/index.ts";
import type { Worktree } from "../record.ts";
import { MARKER, openScene, type Scene } from "../test-scene.ts";
import { collectWorktrees, examineWorktrees, type ExaminedTask } from "./index.ts";

async function lease({ repository }: Scene, id: string): Promise<Worktree> {
  return leaseWorktree(repository, { id, branch: `rookery/${id}`, base: "main" });
}

function toTask({ id, branch }: Worktree, more: Partial<ExaminedTask> = {}): ExaminedTask {
  return { id, branch, base: "main", inUse: false, endedAt: "2025-01-01T00:00:00.000Z", ...more };
}

async function commitIn(
  { user }: Scene,
  { path, id }: Worktree,
  file = `${id}.txt`,
  text = `${id}\n`,
): Promise<string> {
  await writeFile(join(path, file), text);
  await user.git("-C", path, "add", "--all");
  await user.git("-C", path, "commit", "--quiet", "--message", `Write ${file}`);
  return user.git("-C", path, "rev-parse", "HEAD");
}

function mergeWorktree({ repository }: Scene, { branch }: Worktree, how: MergeHow) {
  return mergeBranch(repository, { branch, into: "main", how, message: "Merge", marker: MARKER });
}

/** Returns why each worktree is kept, or `removable`. */
async function readReasons({ repository }: Scene, tasks: readonly ExaminedTask[]): Promise<Record<string, string>> {
  const examined = await examineWorktrees(repository, tasks);
  return Object.fromEntries(examined.map(({ id, why = "removable" }) => [id, why]));
}

/** Sets the times of a worktree back by a week. */
async function age({ user }: Scene, { id, path }: Worktree): Promise<void> {
  const admin = join(user.path, ".git", "worktrees", id);
  const then = Date.now() / 1000 - 7 * 24 * 3600;
  for (const file of [path, ...["HEAD", "index", "logs/HEAD"].map((name) => join(admin, name))]) {
    await utimes(file, then, then);
  }
}

describe("a worktree", () => {
  it("is removed with its branch and git's record if it is clean, merged and unused", async () => {
    await using scene = await openScene();
    const { user, repository } = scene;
    const worktree = await lease(scene, "done");
    await commitIn(scene, worktree);
    await mergeWorktree(scene, worktree, "merge");
    const examined = await examineWorktrees(repository, [toTask(worktree)]);
    expect(examined).toMatchObject([{ id: "done", path: worktree.path, uncommitted: 0, unmerged: 0, orphan: false }]);
    expect(examined[0]?.bytes).toBeGreaterThan(1_000);
    expect(await collectWorktrees(repository, examined, { dryRun: true })).toMatchObject({
      removed: [{ id: "done" }],
      left: 0,
    });
    expect(existsSync(worktree.path)).toBe(true);
    const progress: string[] = [];
    const report = await collectWorktrees(repository, examined, {
      dryRun: false,
      onProgress: (text) => void progress.push(text),
    });
    const { bytes } = examined[0]!;
    expect(report).toEqual({
      dryRun: false,
      removed: [{ id: "done", path: worktree.path, bytes }],
      kept: [],
      freed: bytes,
      left: 0,
    });
    expect(progress).toEqual([`removing ${worktree.path}`]);
    expect(existsSync(worktree.path)).toBe(false);
    expect(await user.git("branch", "--list", "rookery/*")).toBe("");
    expect(await user.git("worktree", "list")).not.toContain("done");
    expect(await user.git("fsck", "--no-dangling", "--no-progress")).toBe("");
    expect(await examineWorktrees(repository, [toTask(worktree)])).toEqual([]);
  });

  it("is removed if it contains only ignored files that can be recreated", async () => {
    await using scene = await openScene({ ".gitignore": "node_modules\n.env\n" });
    const worktree = await lease(scene, "idle");
    await mkdir(join(worktree.path, "node_modules"));
    await writeFile(join(worktree.path, "node_modules", "x.js"), "x".repeat(100_000));
    for (const folder of [worktree.path, scene.user.path]) await writeFile(join(folder, ".env"), "KEY=1");
    const examined = await examineWorktrees(scene.repository, [toTask(worktree)]);
    expect(examined[0]).toMatchObject({ id: "idle", unmerged: 0 });
    expect(examined[0]?.bytes).toBeGreaterThan(100_000);
    const report = await collectWorktrees(scene.repository, examined, { dryRun: false });
    expect(report).toMatchObject({ removed: [{ id: "idle" }], left: 0 });
  });

  it.each([
    ["uses it", /task has not finished/],
    ["has a new file in it", /1 file is not committed/],
    ["has changed a file in it", /1 file is not committed/],
    ["has staged something in it", /1 file is not committed/],
    ["has committed in it", /1 commit is not merged into main/],
    ["has committed on a detached HEAD in it", /1 commit is not merged into main/],
    ["has committed on another branch in it", /1 commit is not merged into main/],
    ["has started a merge in it", /git operation is in progress/],
    ["has reverted a commit in it", /2 commits are not merged/],
    ["has locked it", /locked: on a stick/],
    ["has moved it away", /folder is missing/],
  ])("is kept while someone %s", async (what, why) => {
    await using scene = await openScene();
    const { user, repository } = scene;
    const worktree = await lease(scene, "busy");
    const { path } = worktree;
    const git = (...args: string[]): Promise<string> => user.git("-C", path, ...args);
    if (what.includes("new file")) await writeFile(join(path, "new"), "");
    if (what.includes("changed")) await writeFile(join(path, "a.txt"), "changed\n");
    if (what.includes("staged")) await git("rm", "--quiet", "--cached", "a.txt").then(() => rm(join(path, "a.txt")));
    if (what.includes("detached")) await git("checkout", "--quiet", "--detach");
    if (what.includes("another branch")) await git("checkout", "--quiet", "-b", "mine");
    if (what.includes("committed")) await commitIn(scene, worktree);
    if (what.includes("merge")) {
      await user.git("branch", "side", await user.git("commit-tree", "main^{tree}", "-p", "main", "-m", "side"));
      await git("merge", "--no-ff", "--no-commit", "side");
    }
    if (what.includes("reverted")) await commitIn(scene, worktree).then(() => git("revert", "--no-edit", "HEAD"));
    if (what.includes("locked")) await user.git("worktree", "lock", "--reason=on a stick", path);
    if (what.includes("moved")) await rename(path, `${path}-moved`);
    const task = toTask(worktree, { inUse: what.includes("uses") });
    const examined = await examineWorktrees(repository, [task]);
    expect(examined[0]?.why).toMatch(why);
    const report = await collectWorktrees(repository, examined, { dryRun: false });
    expect(report).toMatchObject({ removed: [], freed: 0 });
    expect(existsSync(what.includes("moved") ? `${path}-moved` : path)).toBe(true);
    expect(await user.git("branch", "--list", "rookery/*")).not.toBe("");
  });

  it("is kept if it changes after the examination", async () => {
    await using scene = await openScene();
    const [edited, committed] = [await lease(scene, "edited"), await lease(scene, "committed")];
    const examined = await examineWorktrees(scene.repository, [toTask(edited), toTask(committed)]);
    await writeFile(join(edited.path, "late.txt"), "late");
    await commitIn(scene, committed);
    const report = await collectWorktrees(scene.repository, examined, { dryRun: false });
    expect(report).toMatchObject({ removed: [], freed: 0 });
    expect(report.kept.map(({ id, why }) => `${id}: ${why}`).sort()).toEqual([
      expect.stringMatching(/^committed: .*1 commit/),
      expect.stringMatching(/^edited: .*late\.txt/),
    ]);
    expect(existsSync(join(edited.path, "late.txt")) && existsSync(committed.path)).toBe(true);
  });

  it("is kept if a submodule has commits that exist nowhere else", async () => {
    await using inner = await openScene({ "i.txt": "inner\n" });
    await using scene = await openScene();
    const { user } = scene;
    const allow = ["-c", "protocol.file.allow=always"];
    await user.git(...allow, "submodule", "--quiet", "add", inner.user.path, "inner");
    await user.git("commit", "--quiet", "--message=Bring a submodule");
    const worktree = await lease(scene, "deep");
    const sub = { ...worktree, path: join(worktree.path, "inner") };
    for (const [name, value] of [
      ["user.name", "x"],
      ["user.email", "x@y.invalid"],
    ] as const) {
      await user.git("-C", sub.path, "config", name, value);
    }
    await commitIn(scene, sub);
    await commitIn(scene, worktree);
    await mergeWorktree(scene, worktree, "merge");
    expect(await readReasons(scene, [toTask(worktree)])).toEqual({
      deep: expect.stringMatching(/submodules.*inner/) as string,
    });
  });
});

describe("a squashed or rebased branch", () => {
  it.each(["squash", "rebase"] as const)(
    "counts as merged after a %s by Rookery, until it has new commits",
    async (how) => {
      await using scene = await openScene({ "a.txt": "1\n2\n3\n" });
      const { user, repository } = scene;
      const worktree = await lease(scene, "x");
      const mergedTip = await commitIn(scene, worktree, "a.txt", "1\n2, by x\n3\n");
      await user.write("b.txt", "b\n");
      await user.git("add", "b.txt");
      await user.git("commit", "--quiet", "--message=Add b");
      const { commit: mergedAs } = await mergeWorktree(scene, worktree, how);
      const task = toTask(worktree, { into: "main", mergedTip, mergedAs });
      await user.write("a.txt", "all is different by now\n");
      await user.git("commit", "--quiet", "--all", "--message=Change it again");
      expect(await readReasons(scene, [toTask(worktree)])).toEqual({
        x: expect.stringContaining("not merged") as string,
      });
      expect(await readReasons(scene, [task])).toEqual({ x: "removable" });
      await commitIn(scene, worktree, "more.txt");
      expect(await readReasons(scene, [task])).toEqual({ x: "1 commit is not merged into main" });
      await user.git("-C", worktree.path, "reset", "--quiet", "--hard", mergedTip);
      const report = await collectWorktrees(repository, await examineWorktrees(repository, [task]), { dryRun: false });
      expect(report).toMatchObject({ removed: [{ id: "x" }], kept: [] });
    },
  );

  it("does not count as merged after the target branch was reset", async () => {
    await using scene = await openScene();
    const worktree = await lease(scene, "x");
    const mergedTip = await commitIn(scene, worktree);
    const { commit: mergedAs } = await mergeWorktree(scene, worktree, "squash");
    await scene.user.git("reset", "--quiet", "--hard", "HEAD^");
    const task = toTask(worktree, { into: "main", mergedTip, mergedAs });
    expect(await readReasons(scene, [task])).toEqual({ x: "1 commit is not merged into main" });
  });

  it("counts as merged after a squash by hand if merging again would change nothing", async () => {
    await using scene = await openScene();
    const { user, repository } = scene;
    const worktree = await lease(scene, "x");
    await commitIn(scene, worktree);
    await user.git("merge", "--squash", "--quiet", worktree.branch);
    await user.git("commit", "--quiet", "--message=By hand");
    const report = await collectWorktrees(repository, await examineWorktrees(repository, [toTask(worktree)]), {
      dryRun: false,
    });
    expect(report).toMatchObject({ removed: [{ id: "x" }] });
    expect(await user.read("x.txt")).toBe("x\n");
  });
});

describe("a worktree without a task", () => {
  it("is removed only after a day without use, and only if it has no unsaved work", async () => {
    await using scene = await openScene();
    const [fresh, old, full] = [await lease(scene, "fresh"), await lease(scene, "old"), await lease(scene, "full")];
    await commitIn(scene, full);
    for (const worktree of [old, full]) await age(scene, worktree);
    expect(await readReasons(scene, [])).toEqual({
      fresh: expect.stringContaining("in the last 24 hours") as string,
      old: "removable",
      full: "1 commit is not merged into main",
    });
    const report = await collectWorktrees(scene.repository, await examineWorktrees(scene.repository, []), {
      dryRun: false,
    });
    expect(report.removed.map(({ id }) => id)).toEqual(["old"]);
    expect(existsSync(fresh.path)).toBe(true);
  });

  it("is only reported if Rookery did not create it, and links are not followed", async () => {
    await using scene = await openScene();
    await using elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere.path, "big"), "x".repeat(1_000_000));
    const folder = join(scene.user.path, ".rookery", "worktrees");
    await mkdir(join(folder, "mine"), { recursive: true });
    await symlink(elsewhere.path, join(folder, "link"));
    const examined = await examineWorktrees(scene.repository, []);
    expect(examined.map(({ id, why }) => `${id}: ${why ?? ""}`)).toEqual([
      expect.stringMatching(/^link: .*by hand/),
      expect.stringMatching(/^mine: .*by hand/),
    ]);
    expect(examined[0]?.bytes).toBeLessThan(100_000);
    expect(await collectWorktrees(scene.repository, examined, { dryRun: false })).toMatchObject({ removed: [] });
    expect((await stat(join(elsewhere.path, "big"))).size).toBe(1_000_000);
  });
});

describe("with a quota", () => {
  it("removes the oldest until the rest fits, and counts worktrees that must stay", async () => {
    await using scene = await openScene();
    const tasks: ExaminedTask[] = [];
    for (const [id, day] of [
      ["b", 2],
      ["a", 1],
      ["c", 3],
      ["kept", 0],
    ] as const) {
      const worktree = await lease(scene, id);
      if (id === "kept") await writeFile(join(worktree.path, "new"), "x".repeat(50_000));
      tasks.push(toTask(worktree, { endedAt: new Date(Date.UTC(2025, 0, 1 + day)).toISOString() }));
    }
    const examined = await examineWorktrees(scene.repository, tasks);
    const bytesOf = (id: string): number => examined.find((one) => one.id === id)?.bytes ?? 0;
    const total = examined.reduce((sum, { bytes }) => sum + bytes, 0);
    const roomy = await collectWorktrees(scene.repository, examined, { dryRun: false, quota: total });
    expect(roomy).toMatchObject({ removed: [], freed: 0, left: total });
    const quota = bytesOf("kept") + bytesOf("c") + 1;
    for (const dryRun of [true, false]) {
      const report = await collectWorktrees(scene.repository, examined, { dryRun, quota });
      expect(report.removed.map(({ id }) => id)).toEqual(["a", "b"]);
      expect(report.kept.map(({ id, why }) => `${id}: ${why}`)).toEqual([
        "c: it could be removed, but the quota is not used up",
        "kept: 1 file is not committed",
      ]);
      expect(report).toMatchObject({
        dryRun,
        freed: bytesOf("a") + bytesOf("b"),
        left: bytesOf("c") + bytesOf("kept"),
      });
    }
    const rest = await examineWorktrees(scene.repository, tasks);
    expect(rest.map(({ id }) => id)).toEqual(["c", "kept"]);
    const all = await collectWorktrees(scene.repository, rest, { dryRun: false, quota: 0 });
    expect(all).toMatchObject({ removed: [{ id: "c" }], left: bytesOf("kept") });
  });

  it("finishes an interrupted removal", async () => {
    await using scene = await openScene();
    const worktree = await lease(scene, "half");
    await rename(worktree.path, join(scene.user.path, ".rookery", "worktrees", ".removed-half"));
    const report = await collectWorktrees(
      scene.repository,
      await examineWorktrees(scene.repository, [toTask(worktree)]),
      {
        dryRun: false,
      },
    );
    expect(report).toMatchObject({ removed: [{ id: "half" }], kept: [] });
    expect(await scene.user.git("branch", "--list", "rookery/*")).toBe("");
  });
});
