import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitAll } from "./commit.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { readWorktreeStatus } from "./status.ts";
import { openRepository } from "./repository.ts";
import { openScene, expectRejection } from "./test-scene.ts";

it.each([".gitignore", ".gitattributes"])("stops git when it blocks on a FIFO named %s", async (name) => {
  await using scene = await openScene({ "a.txt": "one\n" });
  const worktree = await leaseWorktree(scene.repository, { id: "t1", branch: "rookery/t1" });
  await writeFile(join(worktree.path, "a.txt"), "changed\n");
  execFileSync("mkfifo", [join(worktree.path, name)]);
  const repository = await openRepository(scene.user.path, { ...scene.repository.options, deadlineMs: 1_000 });
  await expectRejection(readWorktreeDiff(worktree, repository, { patch: true }), "git_failed", /FIFO/);
  await expectRejection(commitAll(worktree, repository, { message: "Work" }), "git_failed", /FIFO/);
  execFileSync("rm", [join(worktree.path, name)]);
  expect((await readWorktreeStatus(worktree, repository)).files).toEqual(["a.txt"]);
});
