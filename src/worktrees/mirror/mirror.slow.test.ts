import { existsSync } from "node:fs";
import { readFile, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leaseWorktree } from "../lease.ts";
import { expectRejection } from "../test-scene.ts";
import { openRemoteScene, type RemoteScene } from "./test-remote.ts";

async function commitToRemote({ user }: RemoteScene, file: string, text: string): Promise<string> {
  await user.write(file, text);
  await user.git("add", "--all");
  await user.git("commit", "--quiet", `--message=Change ${file}`);
  await user.git("push", "--quiet", "origin", "HEAD:main");
  return user.git("rev-parse", "HEAD");
}

it.each(["a path", "a file URL"])("makes a worktree from a mirror of %s", async (how) => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open(how === "a path" ? {} : { url: `file://${scene.remote}` });
  const worktree = await leaseWorktree(mirror.repository, { id: "t1", branch: "rookery/t1", base: "origin/main" });
  expect(await readFile(join(worktree.path, "a.txt"), "utf8")).toBe("one\n");
  expect(await readFile(join(mirror.repository.root, "a.txt"), "utf8")).toBe("one\n"); // for configuration and trust
  expect(mirror.defaultBranch).toBe("main");
});

it("finds the mirror again without the remote, and updates it with fetch", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  const first = await host.open();
  const pushed = await commitToRemote(scene, "b.txt", "b\n");
  await first.fetch();
  expect((await first.repository.resolve("origin/main")).commit).toBe(pushed);
  expect(await readFile(join(first.repository.root, "b.txt"), "utf8")).toBe("b\n");
  await rename(scene.remote, `${scene.remote}.away`);
  const again = await host.open();
  expect((await again.repository.resolve("origin/main")).commit).toBe(pushed);
  await expectRejection(again.fetch(), "remote_unreachable", /^git remote unreachable: .*project\.git/);
  expect(host.notices).toEqual([]);
});

it("removes branches that the remote no longer has", async () => {
  await using scene = await openRemoteScene();
  await scene.user.git("push", "--quiet", "origin", "HEAD:refs/heads/topic");
  const mirror = await scene.host("a").open();
  await mirror.repository.resolve("origin/topic");
  await scene.user.git("push", "--quiet", "origin", ":refs/heads/topic", "HEAD:refs/heads/topic/deeper");
  await mirror.fetch();
  await expectRejection(mirror.repository.resolve("origin/topic"), "base_not_found");
  await mirror.repository.resolve("origin/topic/deeper");
});

it("rejects with remote_unreachable if nobody listens, and leaves no half mirror", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  const url = `${scene.remote}.missing`;
  await expectRejection(host.open({ url }), "remote_unreachable", /does not appear to be a git repository/);
  await scene.user.git("clone", "--quiet", "--bare", scene.remote, url);
  expect((await host.open({ url })).defaultBranch).toBe("main");
});

it("rejects an empty remote with repository_empty", async () => {
  await using scene = await openRemoteScene();
  const url = `${scene.remote}.empty`;
  await scene.user.git("init", "--quiet", "--bare", url);
  await expectRejection(scene.host("a").open({ url }), "repository_empty", /push one first/);
});

it("opens one mirror for many callers at once", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  const mirrors = await Promise.all(Array.from({ length: 4 }, () => host.open()));
  expect(new Set(mirrors.map(({ repository }) => repository.root)).size).toBe(1);
  expect(await readdir(join(host.root, "repositories"))).toHaveLength(1);
});

it("does not check out a default branch that tracks .rookery", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  const mirror = await host.open();
  await commitToRemote(scene, ".rookery/worktrees/t1/evil.txt", "evil\n");
  await mirror.fetch();
  expect(host.notices).toEqual([expect.stringMatching(/tracks \.rookery/)]);
  expect(existsSync(join(mirror.repository.root, ".rookery/worktrees/t1"))).toBe(false);
});

it("keeps files of the operator that an update would overwrite, and says so", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  const mirror = await host.open();
  await writeFile(join(mirror.repository.root, "a.txt"), "changed on the host\n");
  await commitToRemote(scene, "a.txt", "two\n");
  await mirror.fetch();
  expect(host.notices).toEqual([expect.stringMatching(/not updated to main.*a\.txt/)]);
  expect(await readFile(join(mirror.repository.root, "a.txt"), "utf8")).toBe("changed on the host\n");
});

it("follows a tag and a branch that became folders on the remote", async () => {
  await using scene = await openRemoteScene();
  await scene.remoteGit("tag", "v1", "main");
  await scene.remoteGit("branch", "release", "main");
  const mirror = await scene.host("a").open();
  for (const args of [
    ["tag", "--delete", "v1"],
    ["tag", "v1/a", "main"],
    ["branch", "--delete", "release"],
    ["branch", "release/1", "main"],
  ]) {
    await scene.remoteGit(...args);
  }
  await mirror.fetchBranch("release/1");
  await mirror.fetch();
  const refs = await mirror.repository.git(["for-each-ref", "--format=%(refname)"]);
  expect(refs.split("\n").sort()).toEqual([
    "refs/heads/release/1",
    "refs/remotes/origin/main",
    "refs/remotes/origin/release/1",
    "refs/tags/v1/a",
  ]);
});

it("fetches although refs that an agent made are in the way, and keeps its branch", async () => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open();
  const { commit } = await mirror.repository.resolve("origin/main");
  for (const ref of ["refs/heads/release", "refs/tags/v1", "refs/tags/v2/a", "refs/remotes/origin/new/deep"]) {
    await mirror.repository.git(["update-ref", ref, commit]);
  }
  await scene.remoteGit("branch", "release/1", "main");
  await scene.remoteGit("branch", "new", "main");
  await scene.remoteGit("tag", "v1/a", "main");
  await scene.remoteGit("tag", "v2", "main");
  await mirror.fetchBranch("release/1");
  await mirror.fetch();
  const refs = await mirror.repository.git(["for-each-ref", "--format=%(refname)"]);
  expect(refs.split("\n").sort()).toEqual([
    "refs/heads/release",
    "refs/remotes/origin/main",
    "refs/remotes/origin/new",
    "refs/remotes/origin/release/1",
    "refs/tags/v1/a",
    "refs/tags/v2",
  ]);
});
