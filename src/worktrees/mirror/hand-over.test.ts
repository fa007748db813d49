import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitAll } from "../commit.ts";
import { leaseWorktree } from "../lease.ts";
import { mergeBranch } from "../merge/index.ts";
import { MARKER } from "../test-scene.ts";
import { WorkInProgress, claimWorkInProgress, openMergeRemote, restoreWorktree } from "./index.ts";
import { openRemoteScene } from "./test-remote.ts";

const TASK = { id: "t1", createdAt: "2026-01-01T00:00:00.000Z" };

it("hands uncommitted work of one host to another, which merges it on the remote", async () => {
  await using scene = await openRemoteScene();
  const [a, b] = await Promise.all([scene.host("a").open(), scene.host("b").open()]);
  const branch = "rookery/t1";
  const first = await leaseWorktree(a.repository, { id: "t1", branch, base: "origin/main" });
  await writeFile(join(first.path, "a.txt"), "by a\n");
  await new WorkInProgress(a, TASK, undefined).save(first, { message: "Work in progress\n" });
  const snapshot = (await claimWorkInProgress(b, TASK, { message: "Taken over\n" })) ?? "";
  const { worktree } = await restoreWorktree(b.repository, { ...first, snapshot });
  expect(await readFile(join(worktree.path, "a.txt"), "utf8")).toBe("by a\n");
  expect(await b.repository.git(["status", "--porcelain"], { cwd: worktree.path })).toBe(" M a.txt");
  await commitAll(worktree, b.repository, { message: "Work" });
  const how = { branch, into: "main", how: "squash", message: "Merge t1", marker: MARKER } as const;
  expect(await mergeBranch(b.repository, { ...how, remote: openMergeRemote(b, "main") })).toMatchObject({
    outcome: "merged",
  });
  expect(await scene.remoteGit("log", "--reverse", "--format=%s", "main")).toBe("Initial commit\nMerge t1");
  expect(await scene.remoteGit("show", "main:a.txt")).toBe("by a");
});
