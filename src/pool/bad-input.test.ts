import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeCanary, writeEmbeddedRepository } from "../testing/embedded-repository.ts";
import { temporaryFolder, temporaryRepository } from "../testing/index.ts";
import { openScene } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

/** What is the user's, byte for byte. */
async function users({ repository }: Scene): Promise<unknown> {
  const refs = await repository.git("for-each-ref");
  const status = await repository.git("status", "--porcelain=v2", "--branch");
  return [refs, status, await repository.git("ls-files", "--stage"), await repository.git("worktree", "list")];
}

it.each<[string, Parameters<Scene["tasks"]["start"]>[0], string, RegExp]>([
  ["an empty prompt", { prompt: " " }, "input_invalid", /say what is to be done/],
  ["a prompt of 2 MB", { prompt: "x".repeat(2_000_000) }, "input_too_large", /put it into a file/],
  ["an id that leads elsewhere", { prompt: "x", id: "../../x" }, "input_invalid", /cannot be the id/],
  ["an id of 300 characters", { prompt: "x", id: "x".repeat(300) }, "input_invalid", /more than 64 characters/],
  ["an unknown agent", { prompt: "x", agent: "robbin" }, "agent_unknown", /robin/],
  ["a base that is not there", { prompt: "x", base: "nowhere" }, "base_not_found", /nowhere/],
  ["a base that looks like an option", { prompt: "x", base: "--upload-pack=x" }, "base_not_found", /upload-pack/],
  ["a priority of a half", { prompt: "x", priority: 0.5 }, "input_invalid", /whole number/],
  ["what is not there to be needed", { prompt: "x", needs: ["none"] }, "task_not_found", /none/],
  ["an id to be needed that leads elsewhere", { prompt: "x", needs: ["../x"] }, "input_invalid", /cannot be the id/],
  ["a folder that is not there", { prompt: "x", cwd: "missing" }, "cwd_missing", /missing/],
])("%s is refused in words, and nothing of the user's is touched", async (_, request, code, words) => {
  await using s = await openScene();
  const before = await users(s);
  await expect(s.tasks.start(request)).rejects.toMatchObject({ code, message: expect.stringMatching(words) as string });
  expect(await s.tasks.list()).toEqual([]);
  expect(await users(s)).toEqual(before);
});

it("a repository that is made of files of another one is refused, and nothing of it runs", async () => {
  await using s = await openScene();
  const ran = join(s.folder, "ran");
  writeCanary(join(s.folder, "canary"), ran);
  const filter = `[filter "evil"]\n\tsmudge = ${s.folder}/canary\n\tclean = ${s.folder}/canary\n\trequired = true\n`;
  const config = `\tworktree = ..\n\tfsmonitor = ${s.folder}/canary\n${filter}`;
  await writeFile(join(s.repository.path, ".gitattributes"), "* filter=evil\n");
  writeEmbeddedRepository(join(s.repository.path, "evil"), { config });
  const start = s.tasks.start({ prompt: "x", cwd: join(s.repository.path, "evil") });
  await expect(start).rejects.toMatchObject({
    code: "repository_bare",
    message: expect.stringMatching(/made of files/),
  });
  expect(await s.tasks.list()).toEqual([]);
  expect(existsSync(ran)).toBe(false);
});

it("a repository that nobody trusted runs nothing", async () => {
  await using s = await openScene();
  await writeFile(join(s.repository.path, "rookery.toml"), `[worktree]\nsetup = "touch ${s.folder}/ran"\n`);
  await expect(s.tasks.start({ prompt: "x" })).rejects.toMatchObject({ code: "not_trusted" });
  expect(await s.tasks.list()).toEqual([]);
});

it("a repository that is changed after a task was given runs nothing of what it says now", async () => {
  await using s = await openScene();
  await s.tasks.start({ id: "late", prompt: "run: true" });
  await writeFile(join(s.repository.path, "rookery.toml"), `[worktree]\nsetup = "touch ${s.folder}/ran"\n`);
  s.run();
  expect(await s.until("late", "failed")).toMatchObject({ code: "not_trusted" });
  await expect(rm(join(s.folder, "ran"))).rejects.toMatchObject({ code: "ENOENT" });
});

it.each<[string, (folder: string) => Promise<unknown>, string]>([
  ["no repository", () => Promise.resolve(), "repository_missing"],
  ["an empty .git", (folder) => mkdir(join(folder, ".git")), "repository_missing"],
])("a folder with %s is refused", async (_, make, code) => {
  await using s = await openScene();
  await using folder = await temporaryFolder();
  await make(folder.path);
  await expect(s.tasks.start({ prompt: "x", cwd: folder.path })).rejects.toMatchObject({ code });
});

it("a repository without a commit, a bare one and one that does not know who commits are refused", async () => {
  await using s = await openScene();
  await using empty = await temporaryRepository({}, { commit: false });
  await expect(s.tasks.start({ prompt: "x", cwd: empty.path })).rejects.toMatchObject({ code: "repository_empty" });
  await using bare = await temporaryFolder();
  await s.repository.git("clone", "-q", "--bare", ".", bare.path);
  await expect(s.tasks.start({ prompt: "x", cwd: bare.path })).rejects.toMatchObject({ code: "repository_bare" });
  await s.repository.git("config", "--unset", "user.name");
  await s.repository.git("config", "--unset", "user.email");
  await s.repository.git("config", "user.useConfigOnly", "true");
  await expect(s.tasks.start({ prompt: "x" })).rejects.toMatchObject({ code: "identity_missing" });
});

it("a branch that is there already is not the task's", async () => {
  await using s = await openScene();
  await s.repository.git("branch", "rookery/mine");
  s.run();
  await s.tasks.start({ id: "mine", prompt: "run: true" });
  expect(await s.until("mine", "failed")).toMatchObject({ code: "branch_exists" });
  expect(await s.repository.git("rev-parse", "rookery/mine")).toBe(await s.repository.git("rev-parse", "main"));
});

it("a symbolic link where worktrees go is not followed", async () => {
  await using s = await openScene();
  await using elsewhere = await temporaryFolder();
  await symlink(elsewhere.path, join(s.repository.path, ".rookery"));
  s.run();
  await s.tasks.start({ id: "linked", prompt: "run: true" });
  expect((await s.until("linked", "failed")).message).toMatch(/symlink|symbolic link/);
  await expect(rm(join(elsewhere.path, "worktrees"))).rejects.toMatchObject({ code: "ENOENT" });
});

const QUEUED = process.env["ROOKERY_SLOW"] === "1" ? 10_000 : 2_000;

it(`${QUEUED} queued tasks are listed, counted and taken from`, async () => {
  await using s = await openScene();
  const { spec } = await specOf(s);
  const at = new Date().toISOString();
  const ids = Array.from({ length: QUEUED }, (_, index) => `many-${index}`);
  await Promise.all(
    ids.map((taskId) =>
      s.rookery.store.appendTask({
        taskId,
        id: taskId,
        expectedHead: 0,
        events: [{ type: "task.created", spec: { ...spec, prompt: "run: true" }, at }],
      }),
    ),
  );
  expect(await s.rookery.store.countTasks()).toMatchObject({ queued: QUEUED + 1 });
  expect(await s.tasks.list({ limit: 100 })).toHaveLength(100);
  s.run();
  await s.until("many-0", "done");
});

async function specOf(s: Scene) {
  await s.tasks.start({ id: "model", prompt: "run: true", priority: -1 });
  const [created] = (await s.rookery.store.readTask({ taskId: "model" })).events;
  if (created?.type !== "task.created") throw new Error("it was not created");
  return created;
}
