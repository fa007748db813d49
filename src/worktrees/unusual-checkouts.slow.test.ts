import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { killMarked } from "../stdx/index.ts";
import { temporaryFolder, temporaryRepository } from "../testing/repository.ts";
import { readWorktreeStatus } from "./status.ts";
import { leaseWorktree } from "./lease.ts";
import { listWorktrees, saveWorktree, type Worktree } from "./record.ts";
import { removeWorktree } from "./remove.ts";
import { openRepository } from "./repository.ts";
import { MARKER, openScene, expectRejection, testEnvironment, testGitOptions, type Scene } from "./test-scene.ts";

const T1 = { id: "t1", branch: "rookery/t1" };

it("keeps a sparse checkout sparse", async () => {
  await using scene = await openScene({ "in/a": "a", "out/b": "b", "top.txt": "t" });
  await scene.user.git("sparse-checkout", "set", "--cone", "in");
  const { path } = await leaseWorktree(scene.repository, T1);
  expect((await readdir(path)).sort()).toEqual([".git", "in", "top.txt"]);
  expect(await scene.user.git("-C", path, "sparse-checkout", "list")).toBe("in");
});

describe("submodules", () => {
  async function withSubmodules() {
    const inner = await temporaryRepository({ "deep.txt": "deep\n" });
    const library = await temporaryRepository({ "lib.txt": "lib\n" });
    const allow = ["-c", "protocol.file.allow=always"];
    await library.git(...allow, "submodule", "--quiet", "add", `file://${inner.path}`, "in ner");
    await library.git("commit", "--quiet", "-m", "Add inner");
    const scene = await openScene();
    await scene.user.git(...allow, "submodule", "--quiet", "add", `file://${library.path}`, "libs/my lib");
    await scene.user.git("commit", "--quiet", "-m", "Add library");
    await scene.user.git(...allow, "submodule", "--quiet", "update", "--init", "--recursive");
    const url = library.path;
    // Delete the remotes, so nothing can be fetched.
    await inner[Symbol.asyncDispose]();
    await library[Symbol.asyncDispose]();
    return { ...scene, url };
  }

  it("are cloned from the main checkout, including nested ones", async () => {
    await using scene = await withSubmodules();
    const { user, repository, url } = scene;
    const settings = await user.read(".git/config");
    const worktree = await leaseWorktree(repository, T1);
    const at = join(worktree.path, "libs/my lib");
    expect(await readFile(join(at, "lib.txt"), "utf8")).toBe("lib\n");
    expect(await readFile(join(at, "in ner/deep.txt"), "utf8")).toBe("deep\n");
    expect(await user.git("-C", at, "remote", "get-url", "origin")).toBe(`file://${url}`);
    expect(await user.read(".git/config")).toBe(settings);
    expect(await readWorktreeStatus(worktree, repository)).toMatchObject({ uncommitted: false });
    expect(await user.git("status", "--porcelain")).toBe("");
    await leaseWorktree(repository, T1);
    await removeWorktree(repository, worktree);
    expect(existsSync(worktree.path)).toBe(false);
  });

  it("with their own commits keep the worktree from removal", async () => {
    await using scene = await withSubmodules();
    const worktree = await leaseWorktree(scene.repository, T1);
    const at = join(worktree.path, "libs/my lib");
    const who = ["-c", "user.name=x", "-c", "user.email=x@y.invalid"];
    await scene.user.git("-C", at, ...who, "commit", "--quiet", "--allow-empty", "-m", "In the library");
    await scene.user.git("-C", at, "branch", "kept");
    await scene.user.git("-C", at, "checkout", "--quiet", "HEAD~1");
    await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /submodules libs\/my lib/);
    await removeWorktree(scene.repository, worktree, { force: true });
  });

  const WHO = ["-c", "user.name=x", "-c", "user.email=x@y.invalid"];

  it.each<[string, (scene: Scene, at: string) => Promise<unknown>]>([
    [
      "changes that a setting hides",
      async ({ user }, at) => {
        await user.git("config", "submodule.libs/my lib.ignore", "all");
        await writeFile(join(at, "lib.txt"), "changed\n");
      },
    ],
    [
      "a stash",
      async ({ user }, at) => {
        await writeFile(join(at, "lib.txt"), "changed\n");
        await user.git("-C", at, ...WHO, "stash", "--quiet");
      },
    ],
    [
      "commits one level deeper",
      async ({ user }, at) => {
        const inner = join(at, "in ner");
        await user.git("-C", inner, ...WHO, "checkout", "--quiet", "-b", "deeper");
        await user.git("-C", inner, ...WHO, "commit", "--quiet", "--allow-empty", "-m", "Deeper");
        await user.git("-C", inner, "checkout", "--quiet", "--detach", "HEAD~1");
      },
    ],
    [
      "commits after the branch deleted the submodule",
      async ({ user }, at) => {
        await user.git("-C", at, ...WHO, "commit", "--quiet", "--allow-empty", "-m", "In the library");
        await user.git("-C", join(at, "../.."), "rm", "--quiet", "--force", "libs/my lib");
        await user.git("-C", join(at, "../.."), "commit", "--quiet", "-m", "Drop the library");
        await user.git("merge", "--quiet", "rookery/t1");
      },
    ],
  ])("with %s keep the worktree from removal", async (_, change) => {
    await using scene = await withSubmodules();
    const worktree = await leaseWorktree(scene.repository, T1);
    await change(scene, join(worktree.path, "libs/my lib"));
    await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /libs\/my lib/);
  });

  it("stay empty without a fetch if the main checkout does not have them", async () => {
    await using scene = await openScene({
      ".gitmodules": '[submodule "far"]\n\tpath = far\n\turl = https://nowhere.invalid/x.git\n',
    });
    const commit = await scene.user.git("rev-parse", "HEAD");
    await scene.user.git("update-index", "--add", "--cacheinfo", `160000,${commit},far`);
    await scene.user.git("commit", "--quiet", "-m", "Add far");
    const { path } = await leaseWorktree(scene.repository, T1);
    expect(await readdir(join(path, "far"))).toEqual([]);
  });
});

describe("large files", () => {
  const POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 12\n";

  /** Configures LFS like `git lfs install`. */
  async function configured(bin?: string) {
    const user = await temporaryRepository({ "big.bin": POINTER, ".gitattributes": "*.bin filter=lfs -text\n" });
    for (const [name, value] of [
      ["smudge", "git-lfs smudge -- %f"],
      ["clean", "git-lfs clean -- %f"],
      ["required", "true"],
    ] as const) {
      await user.git("config", `filter.lfs.${name}`, value);
    }
    const { PATH = "" } = testEnvironment(user.path);
    const env = testEnvironment(user.path, bin === undefined ? {} : { PATH: `${bin}:${PATH}` });
    return { user, repository: await openRepository(user.path, { env, marker: MARKER }) };
  }

  async function program(folder: string, text: string): Promise<void> {
    await writeFile(join(folder, "git-lfs"), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, "git-lfs"), 0o755);
  }

  it("stay pointers if git-lfs is not installed", async () => {
    const { user, repository } = await configured();
    await using _ = user;
    const worktree = await leaseWorktree(repository, T1);
    expect(await readFile(join(worktree.path, "big.bin"), "utf8")).toBe(POINTER);
    expect(await readWorktreeStatus(worktree, repository)).toMatchObject({ uncommitted: false });
  });

  it("are downloaded by git-lfs, and stay pointers if that fails", async () => {
    await using bin = await temporaryFolder();
    await program(
      bin.path,
      `case $1 in smudge) cat >/dev/null; echo large;; clean) cat >/dev/null; printf '${POINTER.replaceAll("\n", "\\n")}';; esac`,
    );
    const { user, repository } = await configured(bin.path);
    await using _ = user;
    const worktree = await leaseWorktree(repository, T1);
    expect(await readFile(join(worktree.path, "big.bin"), "utf8")).toBe("large\n");
    await program(bin.path, "echo 'cannot be reached' >&2; exit 2");
    const other = await leaseWorktree(repository, { id: "t2", branch: "rookery/t2" });
    expect(await readFile(join(other.path, "big.bin"), "utf8")).toBe(POINTER);
  });
});

/** Installs a git that runs `text` before it executes the real git. */
async function wrapGit(folder: string, text: string): Promise<string> {
  const real = execFileSync("sh", ["-c", "command -v git"], { env: testEnvironment(folder), encoding: "utf8" }).trim();
  await mkdir(join(folder, "bin"), { recursive: true });
  await writeFile(join(folder, "bin/git"), `#!/bin/sh\nGIT=${real}\n${text}\nexec $GIT "$@"\n`);
  await chmod(join(folder, "bin/git"), 0o755);
  return `${join(folder, "bin")}:${testEnvironment(folder)["PATH"] ?? ""}`;
}

it("leaves no folder, branch or record on a full disk, and does not change the user's checkout", async () => {
  await using folder = await temporaryFolder();
  // Limits files to 8 blocks, so the checkout of the large file fails as on a full disk.
  const full = `case "$*" in *"worktree add"*) trap '' XFSZ; ulimit -f 8;; esac`;
  const PATH = await wrapGit(folder.path, full);
  await using user = await temporaryRepository({ "a.txt": "a\n", "big.txt": "0123456789\n".repeat(10_000) });
  await user.write("a.txt", "changed\n");
  const before = [await user.git("status", "--porcelain=v2"), await user.git("for-each-ref")];
  const repository = await openRepository(user.path, testGitOptions(user.path, { PATH }));
  await expectRejection(leaseWorktree(repository, T1), "disk_full", /free some space/);
  expect([await user.git("status", "--porcelain=v2"), await user.git("for-each-ref")]).toEqual(before);
  expect(await readdir(join(user.path, ".rookery/worktrees"))).toEqual([]);
  expect((await user.git("worktree", "list")).split("\n")).toHaveLength(1);
  expect(await listWorktrees(repository)).toEqual([]);
  const patient = await openRepository(user.path, testGitOptions(user.path));
  await leaseWorktree(patient, T1);
});

describe("after a kill during creation, the next lease completes the worktree", () => {
  const files = { "a.txt": "a\n", "b.slow": "b\n", "c.txt": "c\n", ".gitattributes": "*.slow filter=slow\n" };

  async function expectComplete({ user, repository }: Scene, baseCommit: string): Promise<void> {
    const worktree = await leaseWorktree(repository, T1);
    expect(worktree).toMatchObject({ ...T1, base: "main", baseCommit });
    expect(await readWorktreeStatus(worktree, repository)).toMatchObject({
      uncommitted: false,
      headCommit: baseCommit,
    });
    expect((await user.git("worktree", "list")).split("\n")).toHaveLength(2);
    expect(await readdir(join(user.path, ".git/worktrees"))).toEqual(["t1"]);
  }

  async function writeRecord(scene: Scene): Promise<Worktree> {
    const baseCommit = await scene.user.git("rev-parse", "HEAD");
    const worktree = { ...T1, path: join(scene.user.path, ".rookery/worktrees/t1"), base: "main", baseCommit };
    await saveWorktree(scene.repository, worktree);
    await scene.user.git("commit", "--quiet", "--allow-empty", "-m", "Advance main");
    return worktree;
  }

  it.each([false, true])("before git ran (branch exists: %s)", async (withBranch) => {
    await using scene = await openScene(files);
    const { branch, baseCommit } = await writeRecord(scene);
    if (withBranch) await scene.user.git("branch", branch, baseCommit);
    await mkdir(join(scene.user.path, ".git/worktrees/t1"), { recursive: true });
    await expectComplete(scene, baseCommit);
  });

  it("during the checkout", async () => {
    await using scene = await openScene(files);
    const { user, env } = scene;
    const { branch, baseCommit, path } = await writeRecord(scene);
    await user.git("config", "filter.slow.smudge", `touch "${user.path}/.git/here"; exec sleep 1000`);
    const marker = `killed-${process.pid}`;
    const args = ["worktree", "add", "-b", branch, path, baseCommit];
    const making = spawn("git", args, { cwd: user.path, env: { ...env, LC_ALL: "C", ROOKERY_OWNER: marker } });
    const ended = once(making, "exit");
    await vi.waitFor(() => expect(existsSync(join(user.path, ".git/here"))).toBe(true), { timeout: 20_000 });
    await killMarked(marker);
    await ended;
    expect(await readdir(path)).not.toContain("c.txt");
    expect(await user.read(".git/worktrees/t1/locked")).toContain("initializing");
    await user.git("config", "--unset", "filter.slow.smudge");
    await expectComplete(scene, baseCommit);
  });

  it("leaves nothing if the signal aborts during the checkout", async () => {
    await using scene = await openScene(files);
    const { user, repository } = scene;
    const before = await user.git("for-each-ref");
    await user.git("config", "filter.slow.smudge", `touch "${user.path}/.git/here"; exec sleep 1000`);
    const controller = new AbortController();
    const leasing = leaseWorktree(repository, { ...T1, signal: controller.signal });
    await vi.waitFor(() => expect(existsSync(join(user.path, ".git/here"))).toBe(true), { timeout: 20_000 });
    controller.abort(new Error("aborted"));
    await expect(leasing).rejects.toThrow("aborted");
    expect(await user.git("for-each-ref")).toBe(before);
    expect(await readdir(join(user.path, ".rookery/worktrees"))).toEqual([]);
    expect(await listWorktrees(repository)).toEqual([]);
    expect((await user.git("worktree", "list")).split("\n")).toHaveLength(1);
  });
});
