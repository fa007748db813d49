import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { SessionStore } from "../../domain/store.ts";
import { openMemoryStore } from "../../store/memory.ts";
import {
  type TemporaryFolder,
  temporaryFolder,
  type TemporaryRepository,
  temporaryRepository,
} from "../../testing/index.ts";
import { listByActivity } from "./by-activity.ts";
import { findLastSession, requireLastSession } from "./last.ts";
import { openTestSession } from "./test-sessions.ts";

let repository: TemporaryRepository;
let folder: TemporaryFolder;
let elsewhere: string;
let store: SessionStore;

beforeAll(async () => {
  repository = await temporaryRepository({ "src/a.ts": "" });
  folder = await temporaryFolder();
  elsewhere = folder.path;
});

afterAll(async () => {
  await repository[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

beforeEach(() => {
  store = openMemoryStore();
});

async function lastIn(cwd: string): Promise<string | undefined> {
  return (await findLastSession(store, cwd))?.id;
}

it("is the newest session of the repository, from every directory of it", async () => {
  const { path } = repository;
  await openTestSession(store, "ses_1", { cwd: path });
  await openTestSession(store, "ses_2", { cwd: join(path, "src") });
  await openTestSession(store, "ses_3", { cwd: elsewhere });
  expect(await lastIn(path)).toBe("ses_2");
  expect(await lastIn(join(path, "src"))).toBe("ses_2");
  await symlink(path, join(elsewhere, "link"));
  expect(await lastIn(join(elsewhere, "link"))).toBe("ses_2");
  expect(await lastIn(elsewhere)).toBe("ses_3");
});

it("is the session with the newest activity, like the first one in the list, not the newest session", async () => {
  const { path } = repository;
  await openTestSession(store, "ses_1", { cwd: path, at: "2026-01-03T00:00:00.000Z" });
  for (let number = 2; number < 250; number += 1)
    await openTestSession(store, `ses_${number}`, { cwd: path, at: "2026-01-02T00:00:00.000Z" });
  expect(await lastIn(path)).toBe("ses_1");
  const [first, second, ...others] = await listByActivity(store, {});
  expect([first?.id, second?.updatedAt, others.length]).toEqual(["ses_1", "2026-01-02T00:00:00.000Z", 247]);
});

it("is never the session of a task or of a child", async () => {
  const { path } = repository;
  await openTestSession(store, "ses_10", { cwd: path });
  for (let number = 11; number < 60; number += 1) {
    await openTestSession(store, `ses_${number}`, {
      cwd: path,
      ...(number % 2 ? { task: "t" } : { parent: "ses_10", depth: 1 }),
    });
  }
  expect(await lastIn(path)).toBe("ses_10");
});

it("can be in another worktree of a person, but not in one of a task", async () => {
  const { path } = repository;
  const own = join(elsewhere, "worktree");
  const ofTask = join(path, ".rookery", "worktrees", "fix");
  await repository.git("worktree", "add", "-q", "--detach", own);
  await repository.git("worktree", "add", "-q", "--detach", ofTask);
  await openTestSession(store, "ses_1", { cwd: path });
  await openTestSession(store, "ses_2", { cwd: own });
  await openTestSession(store, "ses_3", { cwd: ofTask }); // a person worked there
  expect(await lastIn(path)).toBe("ses_2");
  expect(await lastIn(own)).toBe("ses_2");
  expect(await lastIn(ofTask)).toBe("ses_3");
  await rm(ofTask, { recursive: true });
  expect(await lastIn(path)).toBe("ses_2");
});

it("is not in another repository inside this one", async () => {
  const { path } = repository;
  const inner = join(path, "inner");
  await mkdir(inner);
  await repository.git("init", "-q", inner);
  await openTestSession(store, "ses_1", { cwd: path });
  await openTestSession(store, "ses_2", { cwd: inner });
  expect(await lastIn(path)).toBe("ses_1");
  expect(await lastIn(inner)).toBe("ses_2");
});

it("is only in this directory if it has no repository", async () => {
  await mkdir(join(elsewhere, "below"), { recursive: true });
  await openTestSession(store, "ses_1", { cwd: join(elsewhere, "below") });
  expect(await lastIn(elsewhere)).toBeUndefined();
});

it("offers the newest session of another directory", async () => {
  await expect(requireLastSession(store, elsewhere)).rejects.toThrow(
    'there is no session yet; start one: rookery run "PROMPT"',
  );
  await openTestSession(store, "ses_0123456789abcdxk7m2q9", { cwd: "/other" });
  await openTestSession(store, "ses_2", { cwd: elsewhere, task: "t" });
  await expect(requireLastSession(store, elsewhere)).rejects.toMatchObject({
    code: "session_not_found",
    message: `you have started no session in ${elsewhere} or its repository; the newest elsewhere is dxk7m2q9 in /other`,
  });
});
