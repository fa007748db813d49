import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitAll } from "../commit.ts";
import { leaseWorktree } from "../lease.ts";
import { mergeBranch, type MergeOptions, type MergeRemote } from "../merge/index.ts";
import { MARKER, expectRejection } from "../test-scene.ts";
import type { Mirror } from "./mirror.ts";
import { openMergeRemote } from "./publish.ts";
import { openRemoteScene, type RemoteScene } from "./test-remote.ts";

/** A task on this host with one commit that adds a file with its name. */
async function commitWork(mirror: Mirror, id: string): Promise<string> {
  const branch = `rookery/${id}`;
  const worktree = await leaseWorktree(mirror.repository, { id, branch, base: "origin/main" });
  await writeFile(join(worktree.path, `${id}.txt`), `${id}\n`);
  await commitAll(worktree, mirror.repository, { message: `Add ${id}` });
  return branch;
}

function merge(mirror: Mirror, branch: string, remote: Partial<MergeRemote> = {}, more: Partial<MergeOptions> = {}) {
  const target = { ...openMergeRemote(mirror, "main"), ...remote };
  const options = { branch, into: "main", how: "squash", message: `Merge ${branch}`, marker: MARKER } as const;
  return mergeBranch(mirror.repository, { ...options, remote: target, ...more });
}

const history = (scene: RemoteScene) => scene.remoteGit("log", "--reverse", "--format=%s", "main");

it("refuses the second of two hosts that merge at once, which then merges on the new head", async () => {
  await using scene = await openRemoteScene();
  const [a, b] = await Promise.all([scene.host("a").open(), scene.host("b").open()]);
  const [one, two] = await Promise.all([commitWork(a, "one"), commitWork(b, "two")]);
  const prepared: string[] = [];
  let isFirst = true;
  const report = await merge(
    b,
    two,
    {
      publish: async (publication) => {
        if (isFirst) await merge(a, one); // the other host is faster
        isFirst = false;
        return openMergeRemote(b, "main").publish(publication);
      },
    },
    { onPrepared: (commit) => Promise.resolve(void prepared.push(commit)) },
  );
  expect(report.outcome).toBe("merged");
  expect(prepared).toHaveLength(2);
  expect(await history(scene)).toBe("Initial commit\nMerge rookery/one\nMerge rookery/two");
  expect(await scene.remoteGit("rev-parse", "main")).toBe(report.commit);
  expect((await b.repository.resolve("origin/main")).commit).toBe(report.commit);
});

it("does not bring back commits that were removed from the branch meanwhile", async () => {
  await using scene = await openRemoteScene();
  await scene.user.git("commit", "--quiet", "--allow-empty", "--message=Mistake");
  await scene.user.git("push", "--quiet", "origin", "main");
  const mirror = await scene.host("a").open();
  const base = (await mirror.repository.resolve("origin/main~1")).commit;
  const branch = "rookery/one";
  const worktree = await leaseWorktree(mirror.repository, { id: "one", branch, base });
  await writeFile(join(worktree.path, "one.txt"), "one\n");
  await commitAll(worktree, mirror.repository, { message: "Add one" });
  let isFirst = true;
  await merge(mirror, branch, {
    publish: async (publication) => {
      if (isFirst) await scene.user.git("push", "--quiet", "--force", "origin", "main~1:main");
      isFirst = false;
      return openMergeRemote(mirror, "main").publish(publication);
    },
  });
  expect(await history(scene)).toBe("Initial commit\nMerge rookery/one");
});

it.each(["before", "after"])("settles a merge once if the host dies %s it is published", async (when) => {
  await using scene = await openRemoteScene();
  const [a, b] = await Promise.all([scene.host("a").open(), scene.host("b").open()]);
  const branch = await commitWork(a, "one");
  let earlier = "";
  const died = merge(
    a,
    branch,
    {
      publish: async (publication) => {
        if (when === "after") await openMergeRemote(a, "main").publish(publication);
        throw new Error("the host died");
      },
    },
    { onPrepared: (commit) => Promise.resolve(void (earlier = commit)) },
  );
  await expect(died).rejects.toThrow("the host died");
  await b.repository.git(["fetch", "--quiet", a.repository.root, `${branch}:${branch}`], { protocols: "file" });
  const report = await merge(b, branch, {}, { earlier });
  expect(report.outcome).toBe("merged");
  if (when === "after") expect(report.commit).toBe(earlier);
  expect(await history(scene)).toBe("Initial commit\nMerge rookery/one");
});

it("rejects with remote_refused if the remote does not allow the update", async () => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open();
  const branch = await commitWork(mirror, "one");
  const hook = join(scene.remote, "hooks/pre-receive");
  await writeFile(hook, "#!/bin/sh\necho 'main is protected' >&2\nexit 1\n", { mode: 0o755 });
  await expectRejection(
    merge(mirror, branch),
    "remote_refused",
    /refused to update refs\/heads\/main: .*main is protected/,
  );
  expect(await history(scene)).toBe("Initial commit");
});

it("merges into a branch that an agent has checked out in its worktree", async () => {
  await using scene = await openRemoteScene();
  const mirror = await scene.host("a").open();
  const branch = await commitWork(mirror, "one");
  const other = await leaseWorktree(mirror.repository, { id: "two", branch: "rookery/two", base: "origin/main" });
  await mirror.repository.git(["checkout", "--quiet", "-b", "main", "origin/main"], { cwd: other.path });
  await scene.user.git("commit", "--quiet", "--allow-empty", "--message=Meanwhile");
  await scene.user.git("push", "--quiet", "origin", "main");
  expect((await merge(mirror, branch)).outcome).toBe("merged");
  expect(await history(scene)).toBe("Initial commit\nMeanwhile\nMerge rookery/one");
  expect(await mirror.repository.git(["status", "--porcelain"], { cwd: other.path })).toBe("");
});
