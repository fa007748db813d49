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

/** A worktree with a file that is nowhere else, beside a checkout in which the user is at work. */
async function atWork(scene: Scene): Promise<Worktree> {
  const worktree = await leaseWorktree(scene.repository, T1);
  await writeFile(join(worktree.path, "only-here.txt"), "work");
  await scene.user.write("a.txt", "the user's, not committed\n");
  return worktree;
}

describe.each<[string, (worktree: Worktree, scene: Scene) => Promise<unknown>]>([
  [
    "was made a repository of its own",
    async ({ path }, { user }) => {
      await rm(join(path, ".git"));
      await user.git("-C", path, "init", "--quiet");
    },
  ],
  ["was forgotten by git", (_, { user }) => rm(join(user.path, ".git/worktrees/t1"), { recursive: true })],
  [
    "leads to another worktree",
    async ({ path }, { repository }) => {
      const other = await leaseWorktree(repository, { id: "t2", branch: "rookery/t2" });
      await writeFile(join(path, ".git"), await readFile(join(other.path, ".git")));
    },
  ],
])("a folder that %s", (_, sever) => {
  it("is not removed with what is in it, unless it is given up", async () => {
    await using scene = await openScene();
    const worktree = await atWork(scene);
    await sever(worktree, scene);
    await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /only-here\.txt.*--force/);
    expect(await readFile(join(worktree.path, "only-here.txt"), "utf8")).toBe("work");
    await removeWorktree(scene.repository, worktree, { force: true });
    expect(existsSync(worktree.path)).toBe(false);
  });

  it("is never taken for the checkout it lies in", async () => {
    await using scene = await openScene();
    const worktree = await atWork(scene);
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

it("a folder that has lost its .git file gets it again, and is not taken for the checkout it lies in", async () => {
  await using scene = await openScene();
  const worktree = await atWork(scene);
  await rm(join(worktree.path, ".git"));
  const commit = await commitAll(worktree, scene.repository, { message: "Work" });
  expect(await scene.user.git("rev-parse", "rookery/t1")).toBe(commit);
  expect(await scene.user.git("log", "--format=%s", "main")).toBe("Initial commit");
  expect(await scene.user.git("status", "--porcelain")).toBe(" M a.txt");
});

it("after the whole repository was moved, its worktrees are looked at, committed and guarded as before", async () => {
  await using scene = await openScene();
  await using folder = await temporaryFolder();
  await atWork(scene);
  const moved = join(folder.path, "moved");
  await rename(scene.user.path, moved);
  const repository = await openRepository(moved, testGitOptions(moved));
  const worktree = await findWorktree(repository, "t1");
  if (worktree === undefined) throw new Error("it is not known any more");
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /only-here/);
  expect((await readWorktreeStatus(worktree, repository)).files).toEqual(["only-here.txt"]);
  expect(await commitAll(worktree, repository, { message: "Work" })).toMatch(/^[0-9a-f]{40}$/);
  await mkdir(scene.user.path); // for the one who removes it
});

it("what git keeps of a worktree may be damaged: its files stay", async () => {
  await using scene = await openScene();
  const worktree = await atWork(scene);
  await rm(join(scene.user.path, ".git/worktrees/t1/HEAD"));
  await leaseWorktree(scene.repository, T1).catch(() => undefined);
  expect(await readFile(join(worktree.path, "only-here.txt"), "utf8")).toBe("work");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /only-here\.txt/);
});

it("one that the user has locked is removed only by force", async () => {
  await using scene = await openScene();
  const worktree = await leaseWorktree(scene.repository, T1);
  await scene.user.git("worktree", "lock", "--reason", "I look at it", worktree.path);
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /I look at it/);
  expect(existsSync(worktree.path)).toBe(true);
  await removeWorktree(scene.repository, worktree, { force: true });
  expect(existsSync(worktree.path)).toBe(false);
});
