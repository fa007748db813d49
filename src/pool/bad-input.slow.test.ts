import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeCanary, writeEmbeddedRepository } from "../../test/support/embedded-repository.ts";
import { temporaryFolder, temporaryRepository } from "../testing/index.ts";
import { openScene } from "./test-scene.ts";

type Scene = Awaited<ReturnType<typeof openScene>>;

/** Reads the refs, status, index and worktrees of the user's repository. */
async function readRepository({ repository }: Scene): Promise<unknown> {
  const refs = await repository.git("for-each-ref");
  const status = await repository.git("status", "--porcelain=v2", "--branch");
  return [refs, status, await repository.git("ls-files", "--stage"), await repository.git("worktree", "list")];
}

it.each<[string, Parameters<Scene["tasks"]["start"]>[0], string, RegExp]>([
  ["an empty prompt", { prompt: " " }, "input_invalid", /describe what the agent has to do/],
  ["a prompt of 2 MB", { prompt: "x".repeat(2_000_000) }, "input_too_large", /put the text into a file/],
  ["an id with a path", { prompt: "x", id: "../../x" }, "input_invalid", /is not a valid task id/],
  ["an id of 300 characters", { prompt: "x", id: "x".repeat(300) }, "input_invalid", /more than 64 characters/],
  ["an unknown agent", { prompt: "x", agent: "robbin" }, "agent_unknown", /robin/],
  ["a missing base", { prompt: "x", base: "nowhere" }, "base_not_found", /nowhere/],
  ["a base that looks like an option", { prompt: "x", base: "--upload-pack=x" }, "base_not_found", /upload-pack/],
  ["a fractional priority", { prompt: "x", priority: 0.5 }, "input_invalid", /must be an integer/],
  ["a need for a missing task", { prompt: "x", needs: ["none"] }, "task_not_found", /none/],
  ["a need with a path as id", { prompt: "x", needs: ["../x"] }, "input_invalid", /is not a valid task id/],
  ["a missing folder", { prompt: "x", cwd: "missing" }, "cwd_missing", /missing/],
])("rejects %s with a clear message and leaves the repository untouched", async (_, request, code, words) => {
  await using s = await openScene();
  const before = await readRepository(s);
  await expect(s.tasks.start(request)).rejects.toMatchObject({ code, message: expect.stringMatching(words) as string });
  expect(await s.tasks.list()).toEqual([]);
  expect(await readRepository(s)).toEqual(before);
});

it("rejects a repository embedded in another one and runs none of its programs", async () => {
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

it("runs nothing in an untrusted repository", async () => {
  await using s = await openScene();
  await writeFile(join(s.repository.path, "rookery.toml"), `[worktree]\nsetup = "touch ${s.folder}/ran"\n`);
  await expect(s.tasks.start({ prompt: "x" })).rejects.toMatchObject({ code: "not_trusted" });
  expect(await s.tasks.list()).toEqual([]);
});

it("runs no command of a configuration that changed after the task was started", async () => {
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
])("rejects a folder with %s", async (_, make, code) => {
  await using s = await openScene();
  await using folder = await temporaryFolder();
  await make(folder.path);
  await expect(s.tasks.start({ prompt: "x", cwd: folder.path })).rejects.toMatchObject({ code });
});

it("rejects a repository without commits, a bare repository, and one without a committer identity", async () => {
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

it("fails a task whose branch already exists", async () => {
  await using s = await openScene();
  await s.repository.git("branch", "rookery/mine");
  s.run();
  await s.tasks.start({ id: "mine", prompt: "run: true" });
  expect(await s.until("mine", "failed")).toMatchObject({ code: "branch_exists" });
  expect(await s.repository.git("rev-parse", "rookery/mine")).toBe(await s.repository.git("rev-parse", "main"));
});

it("does not follow a symbolic link in place of the worktrees folder", async () => {
  await using s = await openScene();
  await using elsewhere = await temporaryFolder();
  await symlink(elsewhere.path, join(s.repository.path, ".rookery"));
  s.run();
  await s.tasks.start({ id: "linked", prompt: "run: true" });
  expect((await s.until("linked", "failed")).message).toMatch(/symlink|symbolic link/);
  await expect(rm(join(elsewhere.path, "worktrees"))).rejects.toMatchObject({ code: "ENOENT" });
});

const QUEUED = process.env["ROOKERY_SLOW"] === "1" ? 10_000 : 2_000;

it(`lists, counts and runs ${QUEUED} queued tasks`, async () => {
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
  if (created?.type !== "task.created") throw new Error("the task was not created");
  return created;
}
