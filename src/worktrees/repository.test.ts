import { execFileSync } from "node:child_process";
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder, temporaryRepository } from "../testing/repository.ts";
import { toGitError } from "./failure.ts";
import { git } from "./git.ts";
import { openRepository } from "./repository.ts";
import { openScene, expectRejection, testEnvironment, testGitOptions } from "./test-scene.ts";

it("finds the main checkout from any folder, including a linked worktree", async () => {
  await using user = await temporaryRepository({ "src/deep/a b.txt": "1", "ünï/x": "2" });
  await using other = await temporaryFolder();
  await user.git("worktree", "add", "--quiet", "-b", "linked", join(other.path, "linked tree"));
  for (const cwd of [".", "src/deep", "ünï", ".git"].map((at) => join(user.path, at))) {
    expect((await openRepository(cwd, testGitOptions(user.path))).root).toBe(user.path);
  }
  const linked = await openRepository(join(other.path, "linked tree", "src"), testGitOptions(user.path));
  expect(linked).toMatchObject({ root: user.path, commonDir: join(user.path, ".git") });
});

it("rejects unusable repositories and says what to run", async () => {
  await using plain = await temporaryFolder();
  await using empty = await temporaryRepository({}, { commit: false });
  await using hollow = await temporaryFolder();
  await mkdir(join(hollow.path, ".git"));
  const bare = join(plain.path, "bare.git");
  execFileSync("git", ["init", "--quiet", "--bare", bare], { env: testEnvironment(plain.path) });
  const open = (cwd: string) => openRepository(cwd, testGitOptions(plain.path));
  await expectRejection(open(plain.path), "repository_missing", /git init/);
  await expectRejection(open(hollow.path), "repository_missing");
  await expectRejection(open(join(plain.path, "nowhere")), "cwd_missing");
  await expectRejection(open(bare), "repository_bare", /git clone/);
  await expectRejection(open(empty.path), "repository_empty", /--allow-empty/);
});

it("rejects with git_missing if git is not on the PATH", async () => {
  await using user = await temporaryRepository();
  const options = testGitOptions(user.path, { PATH: join(user.path, "bin") });
  await expectRejection(openRepository(user.path, options), "git_missing");
});

it("ignores variables that point to another repository", async () => {
  await using user = await temporaryRepository();
  await using other = await temporaryRepository({ "b.txt": "" });
  const options = testGitOptions(user.path, {
    GIT_DIR: join(other.path, ".git"),
    GIT_WORK_TREE: other.path,
    GIT_INDEX_FILE: join(other.path, ".git/index"),
    GIT_TRACE: "1",
  });
  expect((await openRepository(user.path, options)).root).toBe(user.path);
  expect(await git(user.path, ["ls-files"], options)).toBe("");
});

it("resolves a branch, tag, commit or HEAD, and names the branch only for a branch", async () => {
  await using scene = await openScene();
  const { user, repository } = scene;
  const commit = await user.git("rev-parse", "HEAD");
  await user.git("tag", "v1");
  await user.git("branch", "topic/ünï");
  expect(await repository.head()).toEqual({ commit, branch: "main" });
  expect(await repository.resolve("topic/ünï")).toEqual({ commit, branch: "topic/ünï" });
  for (const ref of ["v1", commit, commit.slice(0, 10)]) expect(await repository.resolve(ref)).toEqual({ commit });
  await user.git("pack-refs", "--all");
  expect(await repository.head()).toEqual({ commit, branch: "main" });
  await user.git("checkout", "--quiet", "--detach");
  expect(await repository.head()).toEqual({ commit });
  expect(await repository.resolve("HEAD")).toEqual({ commit });
});

it.each(["mian", "-q", "--all", "^main", "main..HEAD", "ma in", "main\n", "", "HEAD:a.txt", "x".repeat(1001), "\0"])(
  "rejects the base %o with base_not_found",
  async (ref) => {
    await using scene = await openScene();
    await expectRejection(
      scene.repository.resolve(ref),
      "base_not_found",
      ref === "mian" ? /did you mean main\?/ : /git branch/,
    );
  },
);

it("rejects with identity_missing if git has no email", async () => {
  await using scene = await openScene();
  await scene.repository.requireIdentity();
  await scene.user.git("config", "--unset", "user.email");
  await scene.repository.requireIdentity(); // the successful check is cached
  const reopened = await openRepository(scene.user.path, testGitOptions(scene.user.path));
  await expectRejection(reopened.requireIdentity(), "identity_missing", /user\.email/);
});

it("waits for the lock of another git, then reports it with its age", async () => {
  await using scene = await openScene({ "a.txt": "1" }, { lockMs: 200 });
  const lock = join(scene.user.path, ".git/index.lock");
  await writeFile(lock, "");
  const before = new Date(Date.now() - 65_000);
  await utimes(lock, before, before);
  const locked = scene.repository.git(["add", "a.txt"]);
  await expectRejection(locked, "repository_locked", /index\.lock is 6\d seconds old/);
  await writeFile(lock, "");
  await scene.user.write("a.txt", "2");
  const waiting = openRepository(scene.user.path, { ...testGitOptions(scene.user.path), lockMs: 30_000 }).then(
    (patient) => patient.git(["add", "a.txt"]),
  );
  setTimeout(() => void rm(lock), 100);
  await waiting;
});

it.each([
  ["error: unable to write loose object file: No space left on device", "disk_full"],
  ["fatal: write error: Disk quota exceeded", "disk_full"],
  ["fatal: unable to write new index file", "disk_full"],
  ["fatal: not a git repository: (null)", "repository_missing"],
  ["error: could not lock config file .git/config: File exists", "repository_locked"],
  ["hint: try this\nerror: something else", "git_failed"],
] as const)("converts the git error %o to %s", async (stderr, code) => {
  const failure = await toGitError("/somewhere", ["worktree", "add", "x"], { code: 128, stdout: "", stderr });
  expect(failure.code).toBe(code);
  if (code === "git_failed")
    expect(failure.message).toBe("git worktree add failed in /somewhere: error: something else");
});

it("includes git's error message", async () => {
  await using scene = await openScene();
  await expectRejection(scene.repository.git(["checkout", "nowhere"]), "git_failed", /git checkout.*nowhere/);
});

it("does not run hooks of the repository", async () => {
  await using scene = await openScene();
  await scene.user.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch ran\n");
  await scene.user.git("config", "core.hooksPath", join(scene.user.path, ".git/hooks"));
  execFileSync("chmod", ["+x", join(scene.user.path, ".git/hooks/post-checkout")]);
  await scene.repository.git(["checkout", "--quiet", "-b", "other"]);
  expect(await readdir(scene.user.path)).not.toContain("ran");
});

it("truncates output at the limit and stops git when the signal aborts", async () => {
  await using scene = await openScene({ "big.txt": "0123456789\n".repeat(100_000) });
  const cut = await scene.repository.gitTry(["show", "HEAD"], { truncateAt: 1000 });
  expect(cut).toMatchObject({ truncated: true });
  expect(cut.stdout).toHaveLength(1000);
  const controller = new AbortController();
  const waiting = scene.repository.git(["cat-file", "--batch"], { signal: controller.signal, input: "HEAD\n" });
  controller.abort(new Error("aborted"));
  await expect(waiting).rejects.toThrow("aborted");
});
