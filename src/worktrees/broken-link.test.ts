import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/repository.ts";
import { commitAll } from "./commit.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { readWorktreeStatus } from "./status.ts";
import { findWorktree, type Worktree } from "./record.ts";
import { removeWorktree } from "./remove.ts";
import { openRepository } from "./repository.ts";
import { openScene, expectRejection, testGitOptions, type Scene } from "./test-scene.ts";

const T1 = { id: "t1", branch: "rookery/t1" };

/** Creates a worktree with a file that exists nowhere else, and an uncommitted change in the main checkout. */
async function leaseWithWork(scene: Scene): Promise<Worktree> {
  const worktree = await leaseWorktree(scene.repository, T1);
  await writeFile(join(worktree.path, "only-here.txt"), "work");
  await scene.user.write("a.txt", "the user's, not committed\n");
  return worktree;
}

describe.each<[string, (worktree: Worktree, scene: Scene) => Promise<unknown>]>([
  [
    "became a separate repository",
    async ({ path }, { user }) => {
      await rm(join(path, ".git"));
      await user.git("-C", path, "init", "--quiet");
    },
  ],
  ["git no longer knows", (_, { user }) => rm(join(user.path, ".git/worktrees/t1"), { recursive: true })],
  [
    "points to another worktree",
    async ({ path }, { repository }) => {
      const other = await leaseWorktree(repository, { id: "t2", branch: "rookery/t2" });
      await writeFile(join(path, ".git"), await readFile(join(other.path, ".git")));
    },
  ],
])("a worktree folder that %s", (_, sever) => {
  it("is removed only with force", async () => {
    await using scene = await openScene();
    const worktree = await leaseWithWork(scene);
    await sever(worktree, scene);
    await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /only-here\.txt.*--force/);
    expect(await readFile(join(worktree.path, "only-here.txt"), "utf8")).toBe("work");
    await removeWorktree(scene.repository, worktree, { force: true });
    expect(existsSync(worktree.path)).toBe(false);
  });

  it("is never treated as the checkout around it", async () => {
    await using scene = await openScene();
    const worktree = await leaseWithWork(scene);
    await sever(worktree, scene);
    const before = await scene.user.git("log", "--format=%H", "main");
    const { repository } = scene;
    await expectRejection(commitAll(worktree, repository, { message: "Work" }), "worktree_missing", /t1/);
    await expectRejection(readWorktreeStatus(worktree, repository), "worktree_missing", /t1/);
    await expectRejection(readWorktreeDiff(worktree, repository), "worktree_missing", /t1/);
    expect(await scene.user.git("log", "--format=%H", "main")).toBe(before);
    expect(await scene.user.git("status", "--porcelain")).toBe(" M a.txt");
  });
});

it("restores a deleted .git file and does not use the checkout around the worktree", async () => {
  await using scene = await openScene();
  const worktree = await leaseWithWork(scene);
  await rm(join(worktree.path, ".git"));
  const commit = await commitAll(worktree, scene.repository, { message: "Work" });
  expect(await scene.user.git("rev-parse", "rookery/t1")).toBe(commit);
  expect(await scene.user.git("log", "--format=%s", "main")).toBe("Initial commit");
  expect(await scene.user.git("status", "--porcelain")).toBe(" M a.txt");
});

it("inspects, commits and protects worktrees after the whole repository was moved", async () => {
  await using scene = await openScene();
  await using folder = await temporaryFolder();
  await leaseWithWork(scene);
  const moved = join(folder.path, "moved");
  await rename(scene.user.path, moved);
  const repository = await openRepository(moved, testGitOptions(moved));
  const worktree = await findWorktree(repository, "t1");
  if (worktree === undefined) throw new Error("the worktree is no longer known");
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /only-here/);
  expect((await readWorktreeStatus(worktree, repository)).files).toEqual(["only-here.txt"]);
  expect(await commitAll(worktree, repository, { message: "Work" })).toMatch(/^[0-9a-f]{40}$/);
  await mkdir(scene.user.path); // disposing the scene removes it
});

it("keeps the files of a worktree whose git folder is damaged", async () => {
  await using scene = await openScene();
  const worktree = await leaseWithWork(scene);
  await rm(join(scene.user.path, ".git/worktrees/t1/HEAD"));
  await leaseWorktree(scene.repository, T1).catch(() => undefined);
  expect(await readFile(join(worktree.path, "only-here.txt"), "utf8")).toBe("work");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /only-here\.txt/);
});

it("removes a worktree that the user locked only with force", async () => {
  await using scene = await openScene();
  const worktree = await leaseWorktree(scene.repository, T1);
  await scene.user.git("worktree", "lock", "--reason", "in review", worktree.path);
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /in review/);
  expect(existsSync(worktree.path)).toBe(true);
  await removeWorktree(scene.repository, worktree, { force: true });
  expect(existsSync(worktree.path)).toBe(false);
});
