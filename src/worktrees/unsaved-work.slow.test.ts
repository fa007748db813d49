/** Tests that a worktree with unsaved work is not removed without `--force`. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryRepository } from "../testing/repository.ts";
import { collectWorktrees, examineWorktrees } from "./collect/index.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { removeWorktree } from "./remove.ts";
import { setUpWorktree } from "./set-up.ts";
import { measureDiskUsage } from "./size.ts";
import { MARKER, openScene, expectRejection, type Scene } from "./test-scene.ts";

const ended = { id: "t1", branch: "rookery/t1", base: "main", inUse: false, endedAt: "2026-01-01T00:00:00Z" };
const latin1Path = (folder: string, name: string) =>
  Buffer.from(`${Buffer.from(folder).toString("latin1")}/${name}`, "latin1");

interface Work {
  readonly scene: Scene;
  readonly path: string;
  /** Git in the worktree. */
  readonly git: (...args: string[]) => Promise<string>;
}

async function makeNested(path: string, git: Work["git"]): Promise<void> {
  await mkdir(path, { recursive: true });
  await git("init", "--quiet", path);
  await writeFile(join(path, "n.txt"), "nested\n");
  await git("-C", path, "add", "n.txt");
  await git("-C", path, "-c", "user.name=n", "-c", "user.email=n@localhost", "commit", "--quiet", "-m", "Nested");
}

/** Each creates something that exists nowhere else. */
const WORK: Readonly<Record<string, (work: Work) => Promise<unknown>>> = {
  "an untracked file": ({ path }) => writeFile(join(path, "new.txt"), "x"),
  "an untracked file with a newline in its name": ({ path }) => writeFile(join(path, "a\nb.txt"), "x"),
  "an untracked file with quotes in its name": ({ path }) => writeFile(join(path, `a"b'c.txt`), "x"),
  "an untracked file whose name starts with a dash": ({ path }) => writeFile(join(path, "--force"), "x"),
  "an untracked file whose name is not UTF-8": ({ path }) => writeFile(latin1Path(path, "caf\xe9"), "x"),
  "an untracked link": ({ path }) => symlink("/nowhere", join(path, "link")),
  "a changed mode": ({ path }) => chmod(join(path, "a.txt"), 0o755),
  "a file that .git/info/exclude hides": async ({ scene, path }) => {
    await appendFile(join(scene.user.path, ".git/info/exclude"), "*.mine\n");
    await writeFile(join(path, "x.mine"), "x");
  },
  "a file that core.excludesFile hides": async ({ scene, path }) => {
    await scene.user.git("config", "core.excludesFile", join(scene.user.path, ".git/excluded"));
    await scene.user.write(".git/excluded", "*.mine\n");
    await writeFile(join(path, "x.mine"), "x");
  },
  "an ignored file whose name is not UTF-8": async ({ scene, path }) => {
    await appendFile(join(scene.user.path, ".git/info/exclude"), "out/\n");
    await mkdir(join(path, "out"));
    await writeFile(latin1Path(join(path, "out"), "caf\xe9"), "x");
  },
  "a changed file with assume-unchanged": async ({ path, git }) => {
    await git("update-index", "--assume-unchanged", "a.txt");
    await writeFile(join(path, "a.txt"), "changed\n");
  },
  "a changed file with skip-worktree": async ({ path, git }) => {
    await git("update-index", "--skip-worktree", "a.txt");
    await writeFile(join(path, "a.txt"), "changed\n");
  },
  "a commit of a detached HEAD": async ({ path, git }) => {
    await git("checkout", "--quiet", "--detach");
    await writeFile(join(path, "a.txt"), "detached\n");
    await git("commit", "--quiet", "-am", "Detached");
  },
  "an untracked repository": ({ path, git }) => makeNested(join(path, "nested"), git),
  "an untracked repository deep in a folder": ({ path, git }) => makeNested(join(path, "one/two/nested"), git),
  "an ignored repository": async ({ scene, path, git }) => {
    await appendFile(join(scene.user.path, ".git/info/exclude"), "nested\n");
    await makeNested(join(path, "nested"), git);
  },
  "a file that a submodule ignores": async ({ path }) => {
    await writeFile(join(path, "sub/x.local"), "x");
  },
  "a folder that a submodule ignores": async ({ path }) => {
    await mkdir(join(path, "sub/out"));
    await writeFile(latin1Path(join(path, "sub/out"), "caf\xe9"), "x");
  },
  "a stash in a submodule": async ({ path, git }) => {
    await writeFile(join(path, "sub/lib.txt"), "changed\n");
    await git("-C", join(path, "sub"), "-c", "user.name=n", "-c", "user.email=n@localhost", "stash", "--quiet");
  },
};

it.each(Object.entries(WORK))("keeps a worktree with %s from gc and remove", async (name, make) => {
  await using scene = await openScene();
  const { user, repository } = scene;
  if (name.includes("submodule")) {
    await using library = await temporaryRepository({ "lib.txt": "lib\n", ".gitignore": "*.local\nout/\n" });
    const allow = ["-c", "protocol.file.allow=always"];
    await user.git(...allow, "submodule", "--quiet", "add", `file://${library.path}`, "sub");
    await user.git("commit", "--quiet", "-m", "Add library");
  }
  const worktree = await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
  const { path } = worktree;
  expect((await examineWorktrees(repository, [ended]))[0]?.why).toBeUndefined();
  await make({ scene, path, git: (...args) => user.git("-C", path, ...args) });
  await readWorktreeDiff(worktree, repository, { patch: true });
  for (const dryRun of [true, false]) {
    const report = await collectWorktrees(repository, await examineWorktrees(repository, [ended]), { dryRun });
    expect([report.removed.length, report.kept.length]).toEqual([0, 1]);
  }
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /--force/);
  expect(existsSync(path)).toBe(true);
  await removeWorktree(repository, worktree, { force: true });
  expect(existsSync(path)).toBe(false);
});

it("removes a worktree with only empty folders, pipes and unchanged flagged files", async () => {
  await using scene = await openScene({ "a.txt": "one\n", "b.txt": "two\n" });
  const worktree = await leaseWorktree(scene.repository, { id: "t1", branch: "rookery/t1" });
  await mkdir(join(worktree.path, "empty/folder"), { recursive: true });
  execFileSync("mkfifo", [join(worktree.path, "pipe")]);
  await scene.user.git("-C", worktree.path, "update-index", "--assume-unchanged", "a.txt");
  await scene.user.git("-C", worktree.path, "update-index", "--skip-worktree", "b.txt");
  await removeWorktree(scene.repository, worktree);
  expect(existsSync(worktree.path)).toBe(false);
});

it("keeps a stash after its worktree is removed", async () => {
  await using scene = await openScene();
  const worktree = await leaseWorktree(scene.repository, { id: "t1", branch: "rookery/t1" });
  await writeFile(join(worktree.path, "a.txt"), "stashed\n");
  await scene.user.git("-C", worktree.path, "stash", "--quiet");
  await removeWorktree(scene.repository, worktree);
  expect(await scene.user.git("stash", "show", "--patch")).toContain("+stashed");
});

it("copies files whose names are not UTF-8 and counts their size", async () => {
  await using scene = await openScene();
  const { user, repository, env } = scene;
  await mkdir(join(user.path, "secrets"));
  await writeFile(latin1Path(join(user.path, "secrets"), "caf\xe9"), "x".repeat(100_000));
  const worktree = await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
  const before = await measureDiskUsage(worktree.path);
  const options = { copy: ["secrets"], timeoutMs: 60_000, env, marker: MARKER, onOutput: () => undefined };
  await setUpWorktree(worktree, repository, options);
  expect(await readFile(latin1Path(join(worktree.path, "secrets"), "caf\xe9"), "utf8")).toHaveLength(100_000);
  expect((await measureDiskUsage(worktree.path)) - before).toBeGreaterThanOrEqual(100_000);
});
