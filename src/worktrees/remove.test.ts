import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/repository.ts";
import { commitAll } from "./commit.ts";
import { leaseWorktree } from "./lease.ts";
import { findWorktree, listWorktrees, type Worktree } from "./record.ts";
import { removeWorktree } from "./remove.ts";
import { measureDiskUsage } from "./size.ts";
import { openScene, expectRejection, type Scene } from "./test-scene.ts";

const lease = (scene: Scene): Promise<Worktree> => leaseWorktree(scene.repository, { id: "t1", branch: "rookery/t1" });

/** Expects that nothing of the task is left and nothing else was removed. */
async function expectRemoved({ user, repository }: Scene, { path }: Worktree): Promise<void> {
  expect(existsSync(path)).toBe(false);
  expect(await readdir(join(user.path, ".rookery/worktrees"))).toEqual([]);
  expect((await user.git("worktree", "list")).split("\n")).toHaveLength(1);
  expect(await user.git("branch", "--list", "rookery/*")).toBe("");
  expect(await listWorktrees(repository)).toEqual([]);
  expect(await user.git("status", "--porcelain")).toBe("");
}

it("removes a worktree without work, including ignored files, and reports the freed bytes", async () => {
  await using scene = await openScene({ "a.txt": "one\n", ".gitignore": "node_modules\n" });
  const worktree = await lease(scene);
  await mkdir(join(worktree.path, "node_modules/protected"), { recursive: true });
  await writeFile(join(worktree.path, "node_modules/protected/big"), Buffer.alloc(1_000_000));
  await chmod(join(worktree.path, "node_modules/protected"), 0o555);
  const bytes = await measureDiskUsage(worktree.path);
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(await removeWorktree(scene.repository, worktree)).toEqual({ freed: bytes });
  await expectRemoved(scene, worktree);
  expect(await removeWorktree(scene.repository, worktree)).toEqual({ freed: 0 });
});

it("names and keeps unsaved work unless force is set", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await writeFile(join(worktree.path, "work in progress.txt"), "w");
  await expectRejection(
    removeWorktree(scene.repository, worktree),
    "worktree_unmerged",
    /work in progress\.txt.*--force/,
  );
  await commitAll(worktree, scene.repository, { message: "Work" });
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /1 commit of rookery\/t1/);
  expect(await readFile(join(worktree.path, "work in progress.txt"), "utf8")).toBe("w");
  expect(await findWorktree(scene.repository, "t1")).toEqual(worktree);
  await removeWorktree(scene.repository, worktree, { force: true });
  await expectRemoved(scene, worktree);
});

it("removes a worktree whose commits are in another branch or recorded as merged", async () => {
  await using scene = await openScene();
  const one = await lease(scene);
  await writeFile(join(one.path, "x"), "x");
  await commitAll(one, scene.repository, { message: "Work" });
  await scene.user.git("branch", "kept", "rookery/t1");
  await removeWorktree(scene.repository, one);
  await expectRemoved(scene, one);
  const other = await lease(scene);
  await writeFile(join(other.path, "y"), "y");
  const mergedTip = await commitAll(other, scene.repository, { message: "More" });
  await writeFile(join(other.path, "z"), "z");
  await commitAll(other, scene.repository, { message: "And more" });
  await expectRejection(removeWorktree(scene.repository, other, { mergedTip }), "worktree_unmerged", /1 commit/);
  await scene.user.git("-C", other.path, "reset", "--quiet", "--hard", "HEAD~1");
  await removeWorktree(scene.repository, other, { mergedTip });
  await expectRemoved(scene, other);
});

it("protects commits on a detached HEAD", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await scene.user.git("-C", worktree.path, "checkout", "--quiet", "--detach");
  await scene.user.git("-C", worktree.path, "commit", "--quiet", "--allow-empty", "-m", "Adrift");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /1 commit/);
});

it("keeps the branch with unmerged commits after the folder was deleted by hand", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await writeFile(join(worktree.path, "x"), "x");
  await commitAll(worktree, scene.repository, { message: "Work" });
  await rm(worktree.path, { recursive: true });
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged");
  await removeWorktree(scene.repository, worktree, { force: true });
  await expectRemoved(scene, worktree);
});

it("restores all commits when a task is resumed after an interrupted removal", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await writeFile(join(worktree.path, "x"), "x");
  await commitAll(worktree, scene.repository, { message: "Work" });
  await scene.user.git("merge", "--quiet", "rookery/t1");
  const half = join(scene.user.path, ".rookery/worktrees/.removed-t1");
  await rename(worktree.path, half);
  await rm(join(half, "a.txt"));
  await lease(scene);
  expect(await readFile(join(worktree.path, "x"), "utf8")).toBe("x");
  await removeWorktree(scene.repository, worktree);
  await expectRemoved(scene, worktree);
});

it("keeps a branch that the user has checked out", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await scene.user.git("-C", worktree.path, "checkout", "--quiet", "--detach");
  await scene.user.git("checkout", "--quiet", "rookery/t1");
  await removeWorktree(scene.repository, worktree, { force: true });
  expect(await scene.user.git("status", "--short", "--branch")).toBe("## rookery/t1");
});

it("removes links without following them and rejects a worktree path that is a link", async () => {
  await using scene = await openScene();
  await using outside = await temporaryFolder();
  await writeFile(join(outside.path, "mine"), "mine");
  const worktree = await lease(scene);
  await symlink(outside.path, join(worktree.path, "link"));
  await removeWorktree(scene.repository, worktree, { force: true });
  await symlink(outside.path, worktree.path);
  await expectRejection(removeWorktree(scene.repository, worktree, { force: true }), "input_invalid", /symbolic link/);
  expect(await readdir(outside.path)).toEqual(["mine"]);
});
