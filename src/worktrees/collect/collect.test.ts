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

function taskOf({ id, branch }: Worktree, more: Partial<ExaminedTask> = {}): ExaminedTask {
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

function mergeOf({ repository }: Scene, { branch }: Worktree, how: MergeHow) {
  return mergeBranch(repository, { branch, into: "main", how, message: "Merge", marker: MARKER });
}

/** Why each is kept; `goes` for those that are not. */
async function whys({ repository }: Scene, tasks: readonly ExaminedTask[]): Promise<Record<string, string>> {
  const examined = await examineWorktrees(repository, tasks);
  return Object.fromEntries(examined.map(({ id, why = "goes" }) => [id, why]));
}

/** As if nobody had been there for a week. */
async function age({ user }: Scene, { id, path }: Worktree): Promise<void> {
  const admin = join(user.path, ".git", "worktrees", id);
  const then = Date.now() / 1000 - 7 * 24 * 3600;
  for (const file of [path, ...["HEAD", "index", "logs/HEAD"].map((name) => join(admin, name))]) {
    await utimes(file, then, then);
  }
}

describe("a worktree", () => {
  it("may go once it is clean, merged and not in use, and goes with its branch and all git has of it", async () => {
    await using scene = await openScene();
    const { user, repository } = scene;
    const worktree = await lease(scene, "done");
    await commitIn(scene, worktree);
    await mergeOf(scene, worktree, "merge");
    const examined = await examineWorktrees(repository, [taskOf(worktree)]);
    expect(examined).toMatchObject([{ id: "done", path: worktree.path, uncommitted: 0, unmerged: 0, orphan: false }]);
    expect(examined[0]?.bytes).toBeGreaterThan(1_000);
    expect(await collectWorktrees(repository, examined, { dryRun: true })).toMatchObject({ removed: [{ id: "done" }], left: 0 });
    expect(existsSync(worktree.path)).toBe(true);
    const told: string[] = [];
    const report = await collectWorktrees(repository, examined, { dryRun: false, onProgress: (text) => void told.push(text) });
    const { bytes } = examined[0]!;
    expect(report).toEqual({
      dryRun: false,
      removed: [{ id: "done", path: worktree.path, bytes }],
      kept: [],
      freed: bytes,
      left: 0,
    });
    expect(told).toEqual([`removing ${worktree.path}`]);
    expect(existsSync(worktree.path)).toBe(false);
    expect(await user.git("branch", "--list", "rookery/*")).toBe("");
    expect(await user.git("worktree", "list")).not.toContain("done");
    expect(await user.git("fsck", "--no-dangling", "--no-progress")).toBe("");
    expect(await examineWorktrees(repository, [taskOf(worktree)])).toEqual([]);
  });

  it("may go where nothing was done in it but what git ignores and can be had again", async () => {
    await using scene = await openScene({ ".gitignore": "node_modules\n.env\n" });
    const worktree = await lease(scene, "idle");
    await mkdir(join(worktree.path, "node_modules"));
    await writeFile(join(worktree.path, "node_modules", "x.js"), "x".repeat(100_000));
    for (const folder of [worktree.path, scene.user.path]) await writeFile(join(folder, ".env"), "KEY=1");
    const examined = await examineWorktrees(scene.repository, [taskOf(worktree)]);
    expect(examined[0]).toMatchObject({ id: "idle", unmerged: 0 });
    expect(examined[0]?.bytes).toBeGreaterThan(100_000);
    const report = await collectWorktrees(scene.repository, examined, { dryRun: false });
    expect(report).toMatchObject({ removed: [{ id: "idle" }], left: 0 });
  });

  it.each([
    ["uses it", /task is not over/],
    ["has a new file in it", /1 file is not committed/],
    ["has changed a file in it", /1 file is not committed/],
    ["has staged something in it", /1 file is not committed/],
    ["has committed in it", /1 commit is not merged into main/],
    ["has committed on no branch in it", /1 commit is not merged into main/],
    ["has committed on another branch in it", /1 commit is not merged into main/],
    ["is in the middle of a merge in it", /middle of something/],
    ["has undone there what they did", /2 commits are not merged/],
    ["has locked it", /locked: on a stick/],
    ["has moved it away", /not where it was/],
  ])("stays while someone %s", async (what, why) => {
    await using scene = await openScene();
    const { user, repository } = scene;
    const worktree = await lease(scene, "busy");
    const { path } = worktree;
    const git = (...args: string[]): Promise<string> => user.git("-C", path, ...args);
    if (what.includes("new file")) await writeFile(join(path, "new"), "");
    if (what.includes("changed")) await writeFile(join(path, "a.txt"), "changed\n");
    if (what.includes("staged")) await git("rm", "--quiet", "--cached", "a.txt").then(() => rm(join(path, "a.txt")));
    if (what.includes("no branch")) await git("checkout", "--quiet", "--detach");
    if (what.includes("another branch")) await git("checkout", "--quiet", "-b", "mine");
    if (what.includes("committed")) await commitIn(scene, worktree);
    if (what.includes("merge")) {
      await user.git("branch", "side", await user.git("commit-tree", "main^{tree}", "-p", "main", "-m", "side"));
      await git("merge", "--no-ff", "--no-commit", "side");
    }
    if (what.includes("undone")) await commitIn(scene, worktree).then(() => git("revert", "--no-edit", "HEAD"));
    if (what.includes("locked")) await user.git("worktree", "lock", "--reason=on a stick", path);
    if (what.includes("moved")) await rename(path, `${path}-moved`);
    const task = taskOf(worktree, { inUse: what.includes("uses") });
    const examined = await examineWorktrees(repository, [task]);
    expect(examined[0]?.why).toMatch(why);
    const report = await collectWorktrees(repository, examined, { dryRun: false });
    expect(report).toMatchObject({ removed: [], freed: 0 });
    expect(existsSync(what.includes("moved") ? `${path}-moved` : path)).toBe(true);
    expect(await user.git("branch", "--list", "rookery/*")).not.toBe("");
  });

  it("stays where something was done in it after it was looked at", async () => {
    await using scene = await openScene();
    const [edited, committed] = [await lease(scene, "edited"), await lease(scene, "committed")];
    const examined = await examineWorktrees(scene.repository, [taskOf(edited), taskOf(committed)]);
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

  it("stays where a submodule of it has commits that are nowhere else", async () => {
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
    await mergeOf(scene, worktree, "merge");
    expect(await whys(scene, [taskOf(worktree)])).toEqual({
      deep: expect.stringMatching(/submodules.*inner/) as string,
    });
  });
});

describe("what was squashed or rebased", () => {
  it.each(["squash", "rebase"] as const)("counts as merged after a %s of ours, until there is more", async (how) => {
    await using scene = await openScene({ "a.txt": "1\n2\n3\n" });
    const { user, repository } = scene;
    const worktree = await lease(scene, "x");
    const mergedTip = await commitIn(scene, worktree, "a.txt", "1\n2, by x\n3\n");
    await user.write("b.txt", "b\n");
    await user.git("add", "b.txt");
    await user.git("commit", "--quiet", "--message=Go on");
    const { commit: mergedAs } = await mergeOf(scene, worktree, how);
    const task = taskOf(worktree, { into: "main", mergedTip, mergedAs });
    await user.write("a.txt", "all is different by now\n");
    await user.git("commit", "--quiet", "--all", "--message=Change it again");
    expect(await whys(scene, [taskOf(worktree)])).toEqual({ x: expect.stringContaining("not merged") as string });
    expect(await whys(scene, [task])).toEqual({ x: "goes" });
    await commitIn(scene, worktree, "more.txt");
    expect(await whys(scene, [task])).toEqual({ x: "1 commit is not merged into main" });
    await user.git("-C", worktree.path, "reset", "--quiet", "--hard", mergedTip);
    const report = await collectWorktrees(repository, await examineWorktrees(repository, [task]), { dryRun: false });
    expect(report).toMatchObject({ removed: [{ id: "x" }], kept: [] });
  });

  it("does not count once the branch was set back to before it", async () => {
    await using scene = await openScene();
    const worktree = await lease(scene, "x");
    const mergedTip = await commitIn(scene, worktree);
    const { commit: mergedAs } = await mergeOf(scene, worktree, "squash");
    await scene.user.git("reset", "--quiet", "--hard", "HEAD^");
    const task = taskOf(worktree, { into: "main", mergedTip, mergedAs });
    expect(await whys(scene, [task])).toEqual({ x: "1 commit is not merged into main" });
  });

  it("counts as merged where others did it, if merging it once more would change nothing", async () => {
    await using scene = await openScene();
    const { user, repository } = scene;
    const worktree = await lease(scene, "x");
    await commitIn(scene, worktree);
    await user.git("merge", "--squash", "--quiet", worktree.branch);
    await user.git("commit", "--quiet", "--message=By hand");
    const report = await collectWorktrees(repository, await examineWorktrees(repository, [taskOf(worktree)]), { dryRun: false });
    expect(report).toMatchObject({ removed: [{ id: "x" }] });
    expect(await user.read("x.txt")).toBe("x\n");
  });
});

describe("what no task knows", () => {
  it("goes only where it was not used for a day, and on the same terms", async () => {
    await using scene = await openScene();
    const [fresh, old, full] = [await lease(scene, "fresh"), await lease(scene, "old"), await lease(scene, "full")];
    await commitIn(scene, full);
    for (const worktree of [old, full]) await age(scene, worktree);
    expect(await whys(scene, [])).toEqual({
      fresh: expect.stringContaining("within a day") as string,
      old: "goes",
      full: "1 commit is not merged into main",
    });
    const report = await collectWorktrees(scene.repository, await examineWorktrees(scene.repository, []), { dryRun: false });
    expect(report.removed.map(({ id }) => id)).toEqual(["old"]);
    expect(existsSync(fresh.path)).toBe(true);
  });

  it("is only reported where Rookery did not make it, and links are not followed", async () => {
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

describe("under a quota", () => {
  it("the oldest go first, and only until there is room; what may not go counts, and stays", async () => {
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
      tasks.push(taskOf(worktree, { endedAt: new Date(Date.UTC(2025, 0, 1 + day)).toISOString() }));
    }
    const examined = await examineWorktrees(scene.repository, tasks);
    const of = (id: string): number => examined.find((one) => one.id === id)?.bytes ?? 0;
    const total = examined.reduce((sum, { bytes }) => sum + bytes, 0);
    const roomy = await collectWorktrees(scene.repository, examined, { dryRun: false, quota: total });
    expect(roomy).toMatchObject({ removed: [], freed: 0, left: total });
    const quota = of("kept") + of("c") + 1;
    for (const dryRun of [true, false]) {
      const report = await collectWorktrees(scene.repository, examined, { dryRun, quota });
      expect(report.removed.map(({ id }) => id)).toEqual(["a", "b"]);
      expect(report.kept.map(({ id, why }) => `${id}: ${why}`)).toEqual([
        "c: it could go, but there is room",
        "kept: 1 file is not committed",
      ]);
      expect(report).toMatchObject({ dryRun, freed: of("a") + of("b"), left: of("c") + of("kept") });
    }
    const rest = await examineWorktrees(scene.repository, tasks);
    expect(rest.map(({ id }) => id)).toEqual(["c", "kept"]);
    const all = await collectWorktrees(scene.repository, rest, { dryRun: false, quota: 0 });
    expect(all).toMatchObject({ removed: [{ id: "c" }], left: of("kept") });
  });

  it("what someone was killed while removing is removed by the next one", async () => {
    await using scene = await openScene();
    const worktree = await lease(scene, "half");
    await rename(worktree.path, join(scene.user.path, ".rookery", "worktrees", ".removed-half"));
    const report = await collectWorktrees(scene.repository, await examineWorktrees(scene.repository, [taskOf(worktree)]), {
      dryRun: false,
    });
    expect(report).toMatchObject({ removed: [{ id: "half" }], kept: [] });
    expect(await scene.user.git("branch", "--list", "rookery/*")).toBe("");
  });
});
