import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitAll } from "../commit.ts";
import { leaseWorktree } from "../lease.ts";
import type { Worktree } from "../record.ts";
import { expectRejection } from "../test-scene.ts";
import type { Mirror } from "./mirror.ts";
import { restoreWorktree } from "./restore.ts";
import { snapshotWorktree } from "./snapshot.ts";
import { openRemoteScene, type RemoteScene } from "./test-remote.ts";
import { WorkInProgress, claimWorkInProgress, deleteWorkInProgress, workInProgressRef } from "./work-in-progress.ts";

const TASK = { id: "t1", createdAt: "2026-01-01T00:00:00.000Z" };
const SAVE = { message: "Work in progress\n" };

const lease = ({ repository }: Mirror) =>
  leaseWorktree(repository, { id: "t1", branch: "rookery/t1", base: "origin/main" });

/** Takes the task over on another host. */
async function takeOver(mirror: Mirror, { base, baseCommit, branch }: Worktree) {
  const snapshot = await claimWorkInProgress(mirror, TASK, { message: "Taken over\n" });
  const options = { id: "t1", branch, base, baseCommit, snapshot: snapshot ?? "" };
  return {
    ...(await restoreWorktree(mirror.repository, options)),
    progress: new WorkInProgress(mirror, TASK, snapshot),
  };
}

const status = (worktree: Worktree, { repository }: Mirror) =>
  repository.git(["status", "--porcelain=v1", "--untracked-files=all", "--no-renames"], { cwd: worktree.path });

const FILES = {
  "a.txt": "one\n",
  "gone.txt": "gone\n",
  "old/name.txt": "moved\n",
  "run.sh": "echo\n",
  "dir/f.txt": "f\n",
};

it("carries uncommitted work of every kind to another host, as uncommitted work", async () => {
  await using scene = await openRemoteScene({ ...FILES, ".gitignore": "ignored.txt\n" });
  const [a, b] = await Promise.all([scene.host("a").open(), scene.host("b").open()]);
  const first = await lease(a);
  await writeFile(join(first.path, "committed.txt"), "committed\n");
  const commit = await commitAll(first, a.repository, { message: "Work" });
  await writeFile(join(first.path, "a.txt"), "changed\n");
  await rm(join(first.path, "gone.txt"));
  await mkdir(join(first.path, "new"));
  await rename(join(first.path, "old/name.txt"), join(first.path, "new/name.txt"));
  await chmod(join(first.path, "run.sh"), 0o755);
  await rm(join(first.path, "dir"), { recursive: true });
  await symlink("new", join(first.path, "dir"));
  await writeFile(join(first.path, "binary.bin"), Buffer.from([0, 255, 1, 254, 10, 13]));
  await writeFile(Buffer.concat([Buffer.from(`${first.path}/caf`), Buffer.from([0xe9])]), "not UTF-8\n");
  await writeFile(join(first.path, "ignored.txt"), "stays\n");
  await writeFile(join(first.path, "staged.txt"), "staged\n");
  await a.repository.git(["add", "staged.txt"], { cwd: first.path });
  const before = await status(first, a);
  const index = await readFile(join(a.repository.commonDir, "worktrees/t1/index"));

  const saved = await new WorkInProgress(a, TASK, undefined).save(first, SAVE);
  expect(saved).toMatchObject({ status: "saved", omitted: [] });
  expect(await status(first, a)).toBe(before);
  expect(await readFile(join(a.repository.commonDir, "worktrees/t1/index"))).toEqual(index);

  const { worktree, left } = await takeOver(b, first);
  expect(left).toBeUndefined();
  const at = { cwd: worktree.path };
  expect(await b.repository.git(["rev-parse", "HEAD"], at)).toBe(commit);
  expect(await b.repository.git(["symbolic-ref", "HEAD"], at)).toBe("refs/heads/rookery/t1");
  expect((await status(worktree, b)).split("\n").sort()).toEqual(
    before.replace("A  staged.txt", "?? staged.txt").split("\n").sort(),
  );
  expect(await readFile(join(worktree.path, "a.txt"), "utf8")).toBe("changed\n");
  expect(await readFile(join(worktree.path, "new/name.txt"), "utf8")).toBe("moved\n");
  expect((await lstat(join(worktree.path, "run.sh"))).mode & 0o111).not.toBe(0);
  expect(await readlink(join(worktree.path, "dir"))).toBe("new");
  expect(await readFile(join(worktree.path, "binary.bin"))).toEqual(Buffer.from([0, 255, 1, 254, 10, 13]));
  expect(await readFile(Buffer.concat([Buffer.from(`${worktree.path}/caf`), Buffer.from([0xe9])]), "utf8")).toBe(
    "not UTF-8\n",
  );
  await expect(lstat(join(worktree.path, "ignored.txt"))).rejects.toThrow("ENOENT");
  await expect(lstat(join(worktree.path, "gone.txt"))).rejects.toThrow("ENOENT");
});

it("saves only if something changed", async () => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open();
  const worktree = await lease(mirror);
  const progress = new WorkInProgress(mirror, TASK, undefined);
  expect((await progress.save(worktree, SAVE)).status).toBe("saved");
  expect((await progress.save(worktree, SAVE)).status).toBe("unchanged");
  await writeFile(join(worktree.path, "b.txt"), "b\n");
  expect((await progress.save(worktree, SAVE)).status).toBe("saved");
  await commitAll(worktree, mirror.repository, { message: "Work" });
  expect((await progress.save(worktree, SAVE)).status).toBe("saved");
});

it("omits large files and nested repositories, and names them", async () => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open();
  const worktree = await lease(mirror);
  for (const [name, size] of [
    ["a1", 60],
    ["a2", 60],
    ["large", 101],
    ["secret.env", 1],
  ] as const) {
    await writeFile(join(worktree.path, name), "x".repeat(size));
  }
  await scene.user.git("init", "--quiet", join(worktree.path, "nested"));
  await writeFile(join(worktree.path, "nested/f"), "f");
  const limits = { maxFileBytes: 100, maxTotalBytes: 100, exclude: ["secret.env"] };
  const { commit, omitted } = await snapshotWorktree(worktree, mirror.repository, { ...SAVE, ...limits });
  expect(omitted).toEqual([
    expect.stringMatching(/^a2 \(over the total limit/),
    expect.stringMatching(/^large \(too large/),
    "nested/ (a nested repository)",
  ]);
  expect(await mirror.repository.git(["ls-tree", "-r", "--name-only", commit])).toBe("a.txt\na1");
});

it("omits what is not a regular file or not readable, and saves the rest", async () => {
  await using scene = await openRemoteScene({ "a.txt": "one\n", "b.txt": "two\n" });
  const mirror = await scene.host("a").open();
  const worktree = await lease(mirror);
  await rm(join(worktree.path, "a.txt"));
  execFileSync("mkfifo", [join(worktree.path, "a.txt")]);
  await writeFile(join(worktree.path, "b.txt"), "changed\n");
  const isRoot = process.getuid?.() === 0; // root can read everything
  if (!isRoot) await writeFile(join(worktree.path, "secret.txt"), "secret\n", { mode: 0 });
  const { commit, omitted } = await snapshotWorktree(worktree, mirror.repository, SAVE);
  expect(omitted).toEqual(["a.txt (not a regular file)", ...(isRoot ? [] : ["secret.txt (not readable)"])]);
  expect(await mirror.repository.git(["show", `${commit}:b.txt`])).toBe("changed");
  expect(await mirror.repository.git(["show", `${commit}:a.txt`])).toBe("one");
});

it("keeps a detached HEAD and a branch that it left behind", async () => {
  await using scene = await openRemoteScene();
  const [a, b] = await Promise.all([scene.host("a").open(), scene.host("b").open()]);
  const first = await lease(a);
  await writeFile(join(first.path, "b.txt"), "b\n");
  const tip = await commitAll(first, a.repository, { message: "Work" });
  await a.repository.git(["checkout", "--quiet", "--detach", "HEAD~1"], { cwd: first.path });
  await new WorkInProgress(a, TASK, undefined).save(first, SAVE);
  const { worktree } = await takeOver(b, first);
  expect((await b.repository.resolve("refs/heads/rookery/t1")).commit).toBe(tip);
  expect(await b.repository.git(["rev-parse", "HEAD"], { cwd: worktree.path })).toBe(first.baseCommit);
});

/** Finds the commit of a snapshot that was made and not pushed, by the content of `b.txt`. */
async function findUnreachableCommit({ repository }: Mirror, text: string): Promise<string> {
  const listed = await repository.git(["fsck", "--unreachable", "--no-reflogs", "--no-progress"]);
  for (const [, commit = ""] of listed.matchAll(/unreachable commit (\w+)/g)) {
    if ((await repository.gitTry(["show", `${commit}:b.txt`])).stdout.trim() === text) return commit;
  }
  throw new Error(`no unreachable commit with b.txt = ${text}`);
}

describe("two hosts", () => {
  async function openTakenOver(scene: RemoteScene) {
    const [a, b] = await Promise.all([scene.host("a").open(), scene.host("b").open()]);
    const first = await lease(a);
    const progress = new WorkInProgress(a, TASK, undefined);
    await writeFile(join(first.path, "b.txt"), "by a\n");
    await progress.save(first, SAVE);
    return { a, b, first, progress, second: await takeOver(b, first) };
  }

  it("refuses the work of the first one after the second one took the task over", async () => {
    await using scene = await openRemoteScene();
    const { first, progress, second } = await openTakenOver(scene);
    await writeFile(join(first.path, "b.txt"), "by a, too late\n");
    expect((await progress.save(first, SAVE)).status).toBe("superseded");
    await writeFile(join(second.worktree.path, "b.txt"), "by b\n");
    expect((await second.progress.save(second.worktree, SAVE)).status).toBe("saved");
    expect(await scene.remoteGit("show", `${workInProgressRef(TASK)}:b.txt`)).toBe("by b");
  });

  it("keeps work that only the returning host has in a ref", async () => {
    await using scene = await openRemoteScene();
    const { a, first, second } = await openTakenOver(scene);
    await writeFile(join(first.path, "b.txt"), "by a, never saved\n");
    await writeFile(join(second.worktree.path, "b.txt"), "by b\n");
    await second.progress.save(second.worktree, SAVE);
    const { worktree, left } = await takeOver(a, first);
    expect(await readFile(join(worktree.path, "b.txt"), "utf8")).toBe("by b\n");
    expect(left).toMatch(/^refs\/rookery\/left\/t1-[0-9a-f]{12}$/);
    expect(await a.repository.git(["show", `${left}:b.txt`])).toBe("by a, never saved");
  });

  it("continues to save after a push whose answer was lost", async () => {
    await using scene = await openRemoteScene();
    const { b, second } = await openTakenOver(scene);
    await writeFile(join(second.worktree.path, "b.txt"), "reaches the remote\n");
    await rename(scene.remote, `${scene.remote}.away`);
    await expectRejection(second.progress.save(second.worktree, SAVE), "remote_unreachable");
    await rename(`${scene.remote}.away`, scene.remote);
    const lost = await findUnreachableCommit(b, "reaches the remote");
    await b.repository.git(["push", "--quiet", "--force", scene.remote, `${lost}:${workInProgressRef(TASK)}`], {
      protocols: "file",
    });
    await writeFile(join(second.worktree.path, "b.txt"), "by b\n");
    expect((await second.progress.save(second.worktree, SAVE)).status).toBe("saved");
  });
});

it("removes the private ref with the task", async () => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open();
  await new WorkInProgress(mirror, TASK, undefined).save(await lease(mirror), SAVE);
  await deleteWorkInProgress(mirror, TASK);
  await deleteWorkInProgress(mirror, TASK);
  expect(await scene.remoteGit("for-each-ref", "refs/rookery")).toBe("");
  expect(await claimWorkInProgress(mirror, TASK, { message: "x" })).toBeUndefined();
});
