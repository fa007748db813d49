import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { deferred, ownIdentity, processesMarked, startTimeOf } from "../stdx/index.ts";
import { withLock } from "./lock.ts";
import { openRepository } from "./repository.ts";
import { openScene, expectRejection, testGitOptions } from "./test-scene.ts";

it("runs exclusive work on one repository one at a time, in order", async () => {
  await using scene = await openScene();
  const again = await openRepository(scene.user.path, testGitOptions(scene.user.path));
  const log: string[] = [];
  const held = deferred();
  const first = scene.repository.exclusive(async () => {
    log.push("first begins");
    await held.promise;
    log.push("first ends");
  });
  const failing = again.exclusive(() => Promise.reject(new Error("broke")));
  const last = again.exclusive(async () => void log.push(`last, with ${(await locksOf(scene.user.path)).join()}`));
  held.resolve();
  await expect(failing).rejects.toThrow("broke");
  await Promise.all([first, last]);
  expect(log).toEqual(["first begins", "first ends", "last, with rookery.lock"]);
  expect(await locksOf(scene.user.path)).toEqual([]);
});

it("rejects with repository_locked if a live process keeps the lock", async () => {
  await using scene = await openScene({ "a.txt": "" }, { exclusiveMs: 50 });
  const { pid, startTime } = ownIdentity();
  await writeFile(join(scene.user.path, ".git/rookery.lock"), `${pid}.${startTime}.0123456789ab`);
  await expectRejection(
    scene.repository.exclusive(() => Promise.resolve()),
    "repository_locked",
    /rookery\.lock/,
  );
  expect(await locksOf(scene.user.path)).toEqual(["rookery.lock"]);
});

it("waits no longer for a lock without an owner than for any other", async () => {
  await using scene = await openScene({ "a.txt": "" }, { exclusiveMs: 50 });
  await symlink("nowhere", join(scene.user.path, ".git/rookery.lock"));
  await expectRejection(
    scene.repository.exclusive(() => Promise.resolve()),
    "repository_locked",
    /rookery\.lock/,
  );
});

it("reports a repository that cannot be written", async () => {
  await using scene = await openScene();
  const refusal = Object.assign(new Error("EROFS: read-only file system, open 'x'"), { code: "EROFS" });
  await expectRejection(
    scene.repository.exclusive(() => Promise.reject(refusal)),
    "git_failed",
    /\.git cannot be written.*EROFS/,
  );
});

it("removes the locks of dead processes when a repository is opened and keeps those of live ones", async () => {
  await using scene = await openScene();
  const { pid, startTime } = ownIdentity();
  const dead = `${spawnSync("true").pid}.${startTime}.0123456789ab`;
  const file = (name: string) => join(scene.user.path, ".git", name);
  await writeFile(file("rookery-merge.lock"), `${dead}\n`);
  await writeFile(file("rookery.lock.dead"), `${dead}\n`);
  await writeFile(file(`rookery.lock.${dead}`), `${dead}\n`);
  const mine = `rookery.lock.${pid}.${startTime}.0123456789ab`;
  await writeFile(file(mine), "");
  await openRepository(scene.user.path, testGitOptions(scene.user.path));
  expect(await locksOf(scene.user.path)).toEqual([mine]);
});

it("lets exactly one waiter at a time take over the lock of a dead process, even after an interrupted takeover", async () => {
  await using scene = await openScene();
  const dead = spawnSync("true").pid;
  const { startTime } = ownIdentity();
  expect(startTimeOf(dead)).not.toBe(startTime);
  const file = join(scene.user.path, ".git/rookery.lock");
  await writeFile(file, `${dead}.${startTime}.0123456789ab`);
  await writeFile(`${file}.dead`, `${dead}.${startTime}.ba9876543210`);
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, (inside += 1));
    await new Promise(setImmediate);
    inside -= 1;
  };
  const all = await Promise.all(Array.from({ length: 20 }, () => withLock(file, 20_000, work)));
  expect(all.every((done) => done !== undefined)).toBe(true);
  expect(most).toBe(1);
  expect(await locksOf(scene.user.path)).toEqual([]);
});

it("kills the children of a dead owner before it takes over its lock", async () => {
  await using scene = await openScene();
  const marker = `lock-test-${process.pid}`;
  const child = spawn("sleep", ["1000"], { env: { ...scene.env, ROOKERY_OWNER: marker } });
  const ended = once(child, "exit");
  const dead = `${spawnSync("true").pid}.${ownIdentity().startTime}.0123456789ab`;
  await writeFile(join(scene.user.path, ".git/rookery.lock"), `${dead}\n${marker}`);
  await vi.waitFor(() => expect(processesMarked(marker)).toHaveLength(1));
  await scene.repository.exclusive(() => Promise.resolve(expect(processesMarked(marker)).toEqual([])));
  await ended;
});

it("stops waiting when the signal aborts", async () => {
  await using scene = await openScene();
  const { pid, startTime } = ownIdentity();
  await writeFile(join(scene.user.path, ".git/rookery.lock"), `${pid}.${startTime}.0123456789ab`);
  const controller = new AbortController();
  const waiting = scene.repository.exclusive(() => Promise.resolve(), controller.signal);
  const behind = scene.repository.exclusive(() => Promise.resolve(), controller.signal);
  controller.abort(new Error("aborted"));
  await expect(behind).rejects.toThrow("aborted");
  await expect(waiting).rejects.toThrow("aborted");
});

async function locksOf(root: string): Promise<string[]> {
  return (await readdir(join(root, ".git"))).filter((name) => /^rookery.*\.lock/.test(name));
}
