import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder, temporaryRepository } from "../testing/repository.ts";
import { leaseWorktree } from "./lease.ts";
import { findWorktree, listWorktrees } from "./record.ts";
import { openRepository } from "./repository.ts";
import { openScene, expectRejection, testGitOptions, type Scene } from "./test-scene.ts";

const T1 = { id: "t1", branch: "rookery/t1" };

/** The state that must not change. */
async function readState({ user }: Scene): Promise<string> {
  const parts = [["status", "--porcelain=v2", "--branch"], ["stash", "list"], ["for-each-ref"], ["worktree", "list"]];
  return (await Promise.all(parts.map((args) => user.git(...args)))).join("\n");
}

it("creates a folder and a branch for a task, and returns the same ones again", async () => {
  await using scene = await openScene({ "a.txt": "one\n", "dïr with space/ü.txt": "two\n" });
  const { user, repository } = scene;
  const commit = await user.git("rev-parse", "HEAD");
  const worktree = await leaseWorktree(repository, T1);
  const path = join(user.path, ".rookery/worktrees/t1");
  expect(worktree).toEqual({ ...T1, path, base: "main", baseCommit: commit });
  expect(await readFile(join(path, "dïr with space/ü.txt"), "utf8")).toBe("two\n");
  expect(await user.git("-C", path, "symbolic-ref", "HEAD")).toBe("refs/heads/rookery/t1");
  await writeFile(join(path, "new.txt"), "not committed");
  await user.git("commit", "--quiet", "--allow-empty", "-m", "Advance main");
  expect(await leaseWorktree(repository, T1)).toEqual(worktree);
  expect(await readFile(join(path, "new.txt"), "utf8")).toBe("not committed");
  expect(await findWorktree(repository, "t1")).toEqual(worktree);
  expect(await listWorktrees(repository)).toEqual([worktree]);
  expect(await findWorktree(repository, "t2")).toBeUndefined();
});

it("shares the objects of the repository", async () => {
  await using scene = await openScene();
  const { path } = await leaseWorktree(scene.repository, T1);
  expect(await scene.user.git("-C", path, "rev-parse", "--path-format=absolute", "--git-common-dir")).toBe(
    join(scene.user.path, ".git"),
  );
});

it("changes nothing in a dirty main checkout except .git/info/exclude", async () => {
  await using scene = await openScene({ "a.txt": "one\n", "b.txt": "b\n", ".gitignore": "x\n" });
  const { user } = scene;
  await user.write(".git/info/exclude", "# mine\n*.swp");
  await user.write("a.txt", "changed\n");
  await user.write("staged.txt", "s\n");
  await user.git("add", "staged.txt");
  await rm(join(user.path, "b.txt"));
  const before = await user.git("status", "--porcelain=v2", "--untracked-files=all");
  const { path } = await leaseWorktree(scene.repository, T1);
  await leaseWorktree(scene.repository, { id: "t2", branch: "rookery/t2" });
  expect(await user.git("status", "--porcelain=v2", "--untracked-files=all")).toBe(before);
  expect(await readFile(join(path, "a.txt"), "utf8")).toBe("one\n");
  expect(await user.read(".git/info/exclude")).toBe("# mine\n*.swp\n/.rookery/\n");
  expect(await user.read(".gitignore")).toBe("x\n");
});

it.each([
  ["a branch", "topic", "topic"],
  ["a tag", "v1", "v1"],
  ["a remote branch", "origin/far", "origin/far"],
])("accepts %s as the base", async (_, base, shown) => {
  await using scene = await openScene();
  const { user } = scene;
  const commit = await user.git("rev-parse", "HEAD");
  await user.git("branch", "topic");
  await user.git("tag", "v1");
  await user.git("update-ref", "refs/remotes/origin/far", "HEAD");
  await user.git("commit", "--quiet", "--allow-empty", "-m", "Later");
  const worktree = await leaseWorktree(scene.repository, { ...T1, base });
  expect(worktree).toMatchObject({ base: shown, baseCommit: commit });
  expect(await user.git("rev-parse", T1.branch)).toBe(commit);
});

it("accepts a detached HEAD as the base", async () => {
  await using scene = await openScene();
  await scene.user.git("checkout", "--quiet", "--detach");
  const commit = await scene.user.git("rev-parse", "HEAD");
  expect(await leaseWorktree(scene.repository, T1)).toMatchObject({ base: commit, baseCommit: commit });
});

it("works from inside a worktree, with spaces and Unicode in the path", async () => {
  await using folder = await temporaryFolder();
  await using user = await temporaryRepository({ "a.txt": "" });
  const moved = join(folder.path, "möin  dir's");
  await rename(user.path, moved);
  const repository = await openRepository(moved, testGitOptions(moved));
  const { path } = await leaseWorktree(repository, T1);
  const inside = await openRepository(path, testGitOptions(moved));
  expect((await leaseWorktree(inside, { id: "t2", branch: "b2" })).path).toBe(join(moved, ".rookery/worktrees/t2"));
  expect(await readdir(join(moved, ".rookery/worktrees"))).toEqual(["t1", "t2"]);
});

it.each(["../x", "a/b", "", ".", "..", "A", "x".repeat(300), "-x", "x.lock", "x\0", "x\n"])(
  "rejects the task id %o",
  async (id) => {
    await using scene = await openScene();
    const before = await readState(scene);
    await expectRejection(leaseWorktree(scene.repository, { id, branch: "b" }), "input_invalid");
    expect(await readState(scene)).toBe(before);
    expect(existsSync(join(scene.user.path, ".rookery"))).toBe(false);
  },
);

it.each(["-b", "--force", "a..b", "a b", "a\nb", "x.lock", "a//b", "/a", "a/", ".a", "@", "a@{1}", "a:b", "HEAD", ""])(
  "rejects the branch name %o",
  async (branch) => {
    await using scene = await openScene();
    const before = await readState(scene);
    await expectRejection(leaseWorktree(scene.repository, { id: "t1", branch }), "input_invalid");
    expect(await readState(scene)).toBe(before);
  },
);

it("leaves nothing if the base does not exist or is an option", async () => {
  await using scene = await openScene();
  const before = await readState(scene);
  for (const base of ["nowhere", "--orphan"]) {
    await expectRejection(leaseWorktree(scene.repository, { ...T1, base }), "base_not_found");
  }
  expect(await readState(scene)).toBe(before);
  expect(await listWorktrees(scene.repository)).toEqual([]);
});

it("rejects a branch that already exists", async () => {
  await using scene = await openScene();
  await scene.user.git("branch", "rookery/t1");
  await scene.user.git("branch", "deep");
  const before = await readState(scene);
  await expectRejection(leaseWorktree(scene.repository, T1), "branch_exists", /rookery\/t1/);
  await expectRejection(
    leaseWorktree(scene.repository, { id: "t1", branch: "deep/t1" }),
    "branch_exists",
    /branch deep/,
  );
  expect(await readState(scene)).toBe(before);
  expect(await listWorktrees(scene.repository)).toEqual([]);
  expect(await readdir(join(scene.user.path, ".rookery/worktrees"))).toEqual([]);
});

it("creates twenty worktrees concurrently", async () => {
  await using scene = await openScene();
  const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
  const again = await openRepository(scene.user.path, testGitOptions(scene.user.path));
  await Promise.all(
    ids.map((id, index) => leaseWorktree(index % 2 === 0 ? again : scene.repository, { id, branch: `rookery/${id}` })),
  );
  expect(await listWorktrees(again)).toHaveLength(20);
  expect((await scene.user.git("worktree", "list")).split("\n")).toHaveLength(21);
});

it("returns the same worktree to two concurrent calls", async () => {
  await using scene = await openScene();
  const [one, other] = await Promise.all([leaseWorktree(scene.repository, T1), leaseWorktree(scene.repository, T1)]);
  expect(one).toEqual(other);
});

it("recreates a deleted folder from its branch with every commit", async () => {
  await using scene = await openScene();
  const worktree = await leaseWorktree(scene.repository, T1);
  await scene.user.git("-C", worktree.path, "commit", "--quiet", "--allow-empty", "-m", "Work");
  const commit = await scene.user.git("rev-parse", T1.branch);
  await rm(worktree.path, { recursive: true });
  expect(await leaseWorktree(scene.repository, T1)).toEqual(worktree);
  expect(await scene.user.git("-C", worktree.path, "rev-parse", "HEAD")).toBe(commit);
  await rm(join(scene.user.path, ".rookery"), { recursive: true });
  await scene.user.git("worktree", "prune");
  await leaseWorktree(scene.repository, T1);
  expect(await scene.user.git("-C", worktree.path, "rev-parse", "HEAD")).toBe(commit);
  expect(await readFile(join(worktree.path, "a.txt"), "utf8")).toBe("one\n");
});

it("names the new location of a moved worktree and creates nothing in its place", async () => {
  await using scene = await openScene();
  const { path } = await leaseWorktree(scene.repository, T1);
  await writeFile(join(path, "new.txt"), "not committed");
  await rename(path, `${path}-elsewhere`);
  await expectRejection(
    leaseWorktree(scene.repository, T1),
    "worktree_missing",
    /now at .*t1-elsewhere; move it back: mv/,
  );
  await rename(`${path}-elsewhere`, path);
  await leaseWorktree(scene.repository, T1);
  await using far = await temporaryFolder();
  await scene.user.git("worktree", "move", path, join(far.path, "far"));
  await expectRejection(leaseWorktree(scene.repository, T1), "worktree_missing", /git worktree move '.*far'/);
  await scene.user.git("worktree", "move", join(far.path, "far"), path);
  await leaseWorktree(scene.repository, T1);
  expect(await readFile(join(path, "new.txt"), "utf8")).toBe("not committed");
});

it("finds its worktrees again after the whole repository was moved", async () => {
  await using scene = await openScene();
  await using folder = await temporaryFolder();
  const { path } = await leaseWorktree(scene.repository, T1);
  await writeFile(join(path, "new.txt"), "not committed");
  const moved = join(folder.path, "moved");
  await rename(scene.user.path, moved);
  const worktree = await leaseWorktree(await openRepository(moved, testGitOptions(moved)), T1);
  expect(worktree.path).toBe(join(moved, ".rookery/worktrees/t1"));
  expect(await readFile(join(worktree.path, "new.txt"), "utf8")).toBe("not committed");
});

it("rejects a folder that git no longer knows and keeps its files", async () => {
  await using scene = await openScene();
  const { path } = await leaseWorktree(scene.repository, T1);
  await writeFile(join(path, "new.txt"), "not committed");
  await rm(join(scene.user.path, ".git/worktrees/t1"), { recursive: true });
  await expectRejection(leaseWorktree(scene.repository, T1), "worktree_missing", /move it away/);
  expect(await readFile(join(path, "new.txt"), "utf8")).toBe("not committed");
});

it("does not use a folder that Rookery did not create", async () => {
  await using scene = await openScene();
  await scene.user.write(".rookery/worktrees/t1/mine.txt", "mine");
  await expectRejection(leaseWorktree(scene.repository, T1), "git_failed", /not a Rookery worktree/);
  expect(await scene.user.read(".rookery/worktrees/t1/mine.txt")).toBe("mine");
  expect(await listWorktrees(scene.repository)).toEqual([]);
});

it.each([".rookery", ".rookery/worktrees", ".rookery/worktrees/t1"])(
  "does not follow %s if it is a symbolic link",
  async (at) => {
    await using scene = await openScene();
    await using outside = await temporaryFolder();
    const link = join(scene.user.path, at);
    await mkdir(join(link, ".."), { recursive: true });
    await symlink(outside.path, link);
    await expectRejection(leaseWorktree(scene.repository, T1), "input_invalid", /symbolic link/);
    expect(await readdir(outside.path)).toEqual([]);
    expect(await scene.user.git("branch", "--list", "rookery/*")).toBe("");
  },
);

it("removes the lock of a killed git when the task is leased again", async () => {
  await using scene = await openScene();
  const { path } = await leaseWorktree(scene.repository, T1);
  const lock = join(await scene.user.git("-C", path, "rev-parse", "--absolute-git-dir"), "index.lock");
  await writeFile(lock, "");
  const then = new Date(Date.now() - 10_000);
  await utimes(lock, then, then);
  await leaseWorktree(scene.repository, T1);
  await writeFile(join(path, "new.txt"), "");
  await scene.user.git("-C", path, "add", "new.txt");
});

it("leaves nothing if the signal aborts", async () => {
  await using scene = await openScene();
  const before = await readState(scene);
  const controller = new AbortController();
  const leasing = leaseWorktree(scene.repository, { ...T1, signal: controller.signal });
  controller.abort(new Error("aborted"));
  await expect(leasing).rejects.toThrow("aborted");
  await scene.repository.exclusive(() => Promise.resolve());
  expect(await readState(scene)).toBe(before);
  expect(await listWorktrees(scene.repository)).toEqual([]);
});
