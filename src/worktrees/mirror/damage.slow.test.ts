import { randomBytes } from "node:crypto";
import { chmod, readFile, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { commitAll } from "../commit.ts";
import { leaseWorktree } from "../lease.ts";
import { expectRejection, testGitOptions } from "../test-scene.ts";
import { openRemoteScene } from "./test-remote.ts";

it("rejects with remote_unreachable if the remote does not answer in time", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  await host.open();
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const silent = host.open({ url: `git://127.0.0.1:${port}/project.git`, timeoutMs: 300 });
  await expectRejection(silent, "remote_unreachable", /no answer within 1 seconds/);
  server.close();
});

/** Damages every pack of a bare repository. */
async function damagePacks(gitDir: string, how: (file: string) => Promise<void>): Promise<void> {
  const folder = join(gitDir, "objects", "pack");
  const packs = (await readdir(folder)).filter((name) => name.endsWith(".pack"));
  expect(packs.length).toBeGreaterThan(0);
  for (const name of packs) {
    await chmod(join(folder, name), 0o644);
    await how(join(folder, name));
  }
}

async function overwriteMiddle(file: string): Promise<void> {
  const bytes = await readFile(file);
  const middle = Math.floor(bytes.length / 2);
  bytes.fill(0xff, middle - 200, middle + 200);
  await writeFile(file, bytes);
}

it("moves a corrupt mirror aside and fetches again, and keeps worktrees and their commits", async () => {
  await using scene = await openRemoteScene();
  const host = scene.host("a");
  const { repository, transport } = await host.open({ url: `file://${scene.remote}` });
  const worktree = await leaseWorktree(repository, { id: "t1", branch: "rookery/t1", base: "origin/main" });
  await writeFile(join(worktree.path, "new.txt"), "new\n");
  const commit = await commitAll(worktree, repository, { message: "Work" });
  await rm(join(transport.gitDir, "refs"), { recursive: true });
  const again = await host.open({ url: `file://${scene.remote}` });
  expect(host.notices).toEqual([expect.stringMatching(/was corrupt and was fetched again .*corrupt-\d+$/)]);
  expect(await again.repository.git(["show", `${commit}:new.txt`])).toBe("new");
  expect(await again.repository.git(["fsck", "--strict", "--no-dangling", "--no-progress"])).toBe("");
  const folder = await readdir(dirname(transport.gitDir));
  expect(folder.filter((name) => name.includes("corrupt"))).toHaveLength(1);
});

it.each([
  ["shortened", (file: string) => truncate(file, 40)],
  ["overwritten in the middle", overwriteMiddle],
])("replaces a mirror whose packs were %s while it was open", async (_, damage) => {
  await using scene = await openRemoteScene({ "a.txt": "one\n", "big.txt": randomBytes(20_000).toString("hex") });
  const host = scene.host("a");
  const mirror = await host.open({ url: `file://${scene.remote}` });
  const { gitDir } = mirror.transport;
  await scene.user.git(`--git-dir=${gitDir}`, "repack", "-adq");
  await damagePacks(gitDir, damage);
  const lease = () => leaseWorktree(mirror.repository, { id: "t1", branch: "rookery/t1", base: "origin/main" });
  const error: unknown = await lease().catch((thrown: unknown) => thrown);
  expect(await mirror.repair(error)).toBe(true);
  expect(host.notices).toEqual([expect.stringMatching(/was corrupt/)]);
  await lease();
  expect(await mirror.repair(new Error("something else"))).toBe(false);
});

it("removes the locks of refs that a killed git left in the mirror", async () => {
  await using scene = await openRemoteScene();
  const git = { ...testGitOptions(dirname(scene.remote)), lockMs: 0 };
  const mirror = await scene.host("a").open({ git });
  await scene.user.git("commit", "--quiet", "--allow-empty", "--message=Next");
  await scene.user.git("push", "--quiet", "origin", "main");
  await writeFile(join(mirror.transport.gitDir, "refs/heads/main.lock"), "");
  await writeFile(join(mirror.transport.gitDir, "packed-refs.lock"), "");
  await mirror.fetch();
  expect((await mirror.repository.resolve("origin/main")).commit).toBe(await scene.user.git("rev-parse", "main"));
});
