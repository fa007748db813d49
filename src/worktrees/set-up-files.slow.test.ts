/** Tests each kind of file that the setup of a worktree may leave. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryRepository } from "../testing/repository.ts";
import { collectWorktrees, examineWorktrees } from "./collect/index.ts";
import { commitAll } from "./commit.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import type { Worktree } from "./record.ts";
import { removeWorktree } from "./remove.ts";
import { openRepository } from "./repository.ts";
import { setUpWorktree } from "./set-up.ts";
import { MAX_SET_UP_FILES } from "./set-up-files.ts";
import { readWorktreeStatus } from "./status.ts";
import { MARKER, expectRejection, openScene, type Scene } from "./test-scene.ts";

const FILES = { "a.txt": "one\n", "lock.json": "1\n", "gone.txt": "x\n", "config.ini": "plain\n", "dir/x": "x\n" };
const ENDED = { id: "t1", branch: "rookery/t1", base: "main", inUse: false, endedAt: "2026-01-01T00:00:00Z" };

const lease = ({ repository }: Scene) => leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });

async function setUp({ repository, env }: Scene, worktree: Worktree, command: string, copy: readonly string[] = []) {
  const outputs: string[] = [];
  const onOutput = (text: string) => void outputs.push(text);
  await setUpWorktree(worktree, repository, { copy, command, timeoutMs: 60_000, env, marker: MARKER, onOutput });
  return outputs.join("");
}

/** Leases a worktree and runs the command as its setup. */
async function leaseWithSetUp(scene: Scene, command: string): Promise<Worktree> {
  const worktree = await lease(scene);
  await setUp(scene, worktree, command);
  return worktree;
}

/** Commits as the pool does, and lists the committed files. */
async function commitWork(scene: Scene, worktree: Worktree): Promise<readonly string[]> {
  const commit = await commitAll(worktree, scene.repository, { message: "Work" });
  if (commit === undefined) return [];
  return (await scene.user.git("show", "--format=", "--name-status", "--no-renames", "-z", commit))
    .split("\0")
    .filter((field) => field.length > 1);
}

async function expectNoWork({ repository }: Scene, worktree: Worktree): Promise<void> {
  expect(await readWorktreeStatus(worktree, repository)).toMatchObject({ uncommitted: false, files: [] });
  const { files, uncommitted, patch, additions, deletions } = await readWorktreeDiff(worktree, repository, {
    patch: true,
  });
  expect({ files, uncommitted, patch, additions, deletions }).toEqual({
    files: [],
    uncommitted: false,
    patch: "",
    additions: 0,
    deletions: 0,
  });
}

/** Commands of a setup, by the kind of file that they leave. */
const LEFTOVERS: Readonly<Record<string, string>> = {
  "an untracked file": "echo made > made.txt",
  "a file in an untracked folder": "mkdir -p gen/deep && echo made > gen/deep/made.txt",
  "a changed file": "echo 2 > lock.json",
  "a deleted file": "rm gone.txt",
  "a changed mode": "chmod +x a.txt",
  "a file that became a link": "ln -sf a.txt lock.json",
  "a folder that became a file": "rm -r dir && echo x > dir",
  "a broken link": "ln -s /nowhere link",
  "a staged file": "echo made > made.txt && git add made.txt",
  "a staged change": "echo 2 > lock.json && git add lock.json",
  "a staged deletion": "git rm --quiet gone.txt",
  "a file with the intent to add it": "echo made > made.txt && git add --intent-to-add made.txt",
  "a name with a newline": `printf x > "$(printf 'a\\nb.txt')"`,
  "a name with quotes and a backslash": `printf x > "a\\"b'c\\\\d.txt"`,
  "a name like a pathspec": `printf x > ":(exclude)*" && printf x > "*"`,
  "a name with spaces and a dash": `printf x > "-- a b "`,
  "a name that is not UTF-8": `printf x > "$(printf 'caf\\351.txt')"`,
  "an assume-unchanged file": "echo local > config.ini && git update-index --assume-unchanged config.ini",
  "a skip-worktree file": "echo local > config.ini && git update-index --skip-worktree config.ini",
};

describe.each(Object.entries(LEFTOVERS))("%s that the setup left", (_, command) => {
  it("is not a change, is not committed, and does not keep the worktree", async () => {
    await using scene = await openScene(FILES);
    const worktree = await leaseWithSetUp(scene, command);
    await expectNoWork(scene, worktree);
    expect(await commitWork(scene, worktree)).toEqual([]);
    await writeFile(join(worktree.path, "work.txt"), "work\n");
    expect((await readWorktreeDiff(worktree, scene.repository)).files.map(({ path }) => path)).toEqual(["work.txt"]);
    expect(await commitWork(scene, worktree)).toEqual(["work.txt"]);
    expect((await readWorktreeStatus(worktree, scene.repository)).uncommitted).toBe(false);
    await scene.user.git("merge", "--quiet", "rookery/t1");
    const examined = await examineWorktrees(scene.repository, [ENDED]);
    expect(await collectWorktrees(scene.repository, examined, { dryRun: false })).toMatchObject({
      removed: [{ id: "t1" }],
      kept: [],
    });
  });
});

it.each([
  ["made.txt", "echo more >> made.txt", ["made.txt"]],
  ["the mode of made.txt", "chmod +x made.txt", ["made.txt"]],
  ["lock.json", "echo 3 > lock.json", ["lock.json"]],
  ["a deletion", "echo again > gone.txt", ["gone.txt"]],
  ["a file of the same size and time", "echo MADE > made.txt; touch -r a.txt made.txt", ["made.txt"]],
])("commits %s if the agent changes it further", async (_, work, committed) => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "echo made > made.txt; echo 2 > lock.json; rm gone.txt");
  await scene.user.git("-C", worktree.path, "-c", `alias.x=!${work}`, "x");
  expect((await readWorktreeStatus(worktree, scene.repository)).files).toEqual(committed);
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /uncommitted files/);
  expect(await commitWork(scene, worktree)).toEqual(committed);
});

it("lets the agent commit a file of the setup, and commits later changes of it", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "echo made > made.txt; echo 2 > lock.json");
  const git = (...args: string[]) => scene.user.git("-C", worktree.path, ...args);
  await git("add", "--all");
  await git("commit", "--quiet", "-m", "The agent's");
  expect(await commitWork(scene, worktree)).toEqual([]);
  expect((await readWorktreeDiff(worktree, scene.repository)).files).toHaveLength(2);
  await rm(join(worktree.path, "made.txt"));
  expect(await commitWork(scene, worktree)).toEqual(["made.txt"]);
  // Restored to what the setup wrote, but no longer compared with the same version in HEAD.
  await writeFile(join(worktree.path, "lock.json"), "3\n");
  expect(await commitWork(scene, worktree)).toEqual(["lock.json"]);
  await writeFile(join(worktree.path, "lock.json"), "2\n");
  expect(await commitWork(scene, worktree)).toEqual(["lock.json"]);
});

it("counts a file of the setup as work while the agent has staged another version of it", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "echo made > made.txt; echo 2 > lock.json");
  await scene.user.git("-C", worktree.path, "add", "--all");
  await expectNoWork(scene, worktree);
  await writeFile(join(worktree.path, "lock.json"), "3\n");
  await scene.user.git("-C", worktree.path, "add", "lock.json");
  await writeFile(join(worktree.path, "lock.json"), "2\n");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /: lock\.json;/);
});

it("keeps the commits of a setup that commits by itself", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(
    scene,
    "echo 2 > lock.json; git commit --quiet -am Bump; echo 3 > lock.json; echo made > made.txt",
  );
  expect(await readWorktreeStatus(worktree, scene.repository)).toMatchObject({ commits: 1, uncommitted: false });
  expect(await commitWork(scene, worktree)).toEqual([]);
  const { files, patch } = await readWorktreeDiff(worktree, scene.repository, { patch: true });
  expect(files).toMatchObject([{ path: "lock.json", change: "modified" }]);
  expect(patch).toContain("+2\n");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /1 commit of/);
});

it("leaves out a submodule that the setup moved to another commit, but not commits or changes in it", async () => {
  await using library = await temporaryRepository({ "lib.txt": "lib\n" });
  await library.git("commit", "--quiet", "--allow-empty", "-m", "Second");
  await using scene = await openScene(FILES);
  const allow = ["-c", "protocol.file.allow=always"];
  await scene.user.git(...allow, "submodule", "--quiet", "add", `file://${library.path}`, "sub");
  await scene.user.git("commit", "--quiet", "-m", "Add library");
  const worktree = await leaseWithSetUp(scene, "git -C sub checkout --quiet HEAD~1");
  await expectNoWork(scene, worktree);
  await writeFile(join(worktree.path, "work.txt"), "work\n");
  expect(await commitWork(scene, worktree)).toEqual(["work.txt"]);
  await writeFile(join(worktree.path, "sub/lib.txt"), "changed\n");
  expect((await readWorktreeStatus(worktree, scene.repository)).files).toEqual(["sub"]);
  const who = ["-c", "user.name=n", "-c", "user.email=n@localhost"];
  await scene.user.git("-C", join(worktree.path, "sub"), ...who, "commit", "--quiet", "-am", "Inside");
  expect(await commitWork(scene, worktree)).toEqual(["sub"]);
});

it("keeps a worktree with a repository that the setup cloned, since the agent may have committed there", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "git init --quiet vendor");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /vendor\//);
});

it("commits the deletion of a file that the setup replaced by a folder, in which the agent may work", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "rm gone.txt && mkdir gone.txt && echo x > gone.txt/x");
  await writeFile(join(worktree.path, "gone.txt/work"), "work\n");
  expect(await commitWork(scene, worktree)).toEqual(["gone.txt", "gone.txt/work"]);
});

it("does not keep a worktree because of a copied file that git does not ignore", async () => {
  await using scene = await openScene(FILES);
  await scene.user.write(".env", "SECRET=1\n");
  const worktree = await lease(scene);
  await setUp(scene, worktree, "true", [".env"]);
  await expectNoWork(scene, worktree);
  await removeWorktree(scene.repository, worktree);
  expect(existsSync(worktree.path)).toBe(false);
});

it("records what a failed setup left, but nothing that someone changes before the next one", async () => {
  await using scene = await openScene(FILES);
  const worktree = await lease(scene);
  await expectRejection(setUp(scene, worktree, "echo made > made.txt; exit 1"), "setup_failed");
  await expectNoWork(scene, worktree);
  await writeFile(join(worktree.path, "a.txt"), "by hand\n");
  await setUp(scene, worktree, "echo made > made.txt; echo 2 > lock.json");
  expect(await commitWork(scene, worktree)).toEqual(["a.txt"]);
});

it("counts all files as work if a setup that was stopped runs again", async () => {
  await using scene = await openScene(FILES);
  const { repository, env } = scene;
  const worktree = await lease(scene);
  const stop = new AbortController();
  const stopped = setUpWorktree(worktree, repository, {
    copy: [],
    command: "echo made > made.txt; echo made; sleep 60",
    timeoutMs: 60_000,
    env,
    marker: MARKER,
    onOutput: () => stop.abort(new Error("stopped")),
    signal: stop.signal,
  });
  await expect(stopped).rejects.toThrow("stopped");
  await writeFile(join(worktree.path, "fix.txt"), "by hand\n");
  await setUp(scene, worktree, "echo made > made.txt; echo 2 > lock.json");
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /fix\.txt, made\.txt/);
  expect(await commitWork(scene, worktree)).toEqual(["fix.txt", "made.txt"]);
});

it("remembers the files in another process, and forgets them with the worktree", async () => {
  await using scene = await openScene(FILES);
  const { user, env } = scene;
  const worktree = await leaseWithSetUp(scene, "echo made > made.txt");
  const record = join(user.path, ".git/rookery/t1.setup");
  const again = { ...scene, repository: await openRepository(user.path, { marker: MARKER, env }) };
  expect(await commitWork(again, worktree)).toEqual([]);
  await rm(worktree.path, { recursive: true });
  await lease(again);
  expect(existsSync(record)).toBe(false);
  await setUp(again, worktree, "echo made > made.txt");
  await removeWorktree(again.repository, worktree);
  expect(existsSync(record)).toBe(false);
});

it("counts all files as work if the record is not valid", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "echo made > made.txt");
  await writeFile(join(scene.user.path, ".git/rookery/t1.setup"), `{"files":[["made.txt"`);
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /made\.txt/);
  expect(await commitWork(scene, worktree)).toEqual(["made.txt"]);
});

it("records up to 1,000 files", async () => {
  await using scene = await openScene(FILES);
  const names = (count: number) => `mkdir -p many && cd many && seq 1 ${count} | xargs touch`;
  const worktree = await lease(scene);
  expect(await setUp(scene, worktree, names(MAX_SET_UP_FILES))).toBe("");
  await expectNoWork(scene, worktree);
  await writeFile(join(worktree.path, "many/work"), "work\n");
  expect(await commitWork(scene, worktree)).toEqual(["many/work"]);
});

it.each([
  ["1,001 files", "mkdir -p many && cd many && seq 1 1001 | xargs touch", 1_001],
  ["30,000 files", "mkdir -p many && cd many && seq 1 30000 | xargs -n 5000 touch", 30_000],
  ["more than 100 MB", "truncate -s 101M big", 1],
])("counts %s as work, and the output of the setup says so", async (_, command, count) => {
  await using scene = await openScene(FILES);
  const worktree = await lease(scene);
  const output = await setUp(scene, worktree, command);
  expect(output).toBe(
    "the setup left more than 1,000 files or 100 MB of files that git does not ignore, so they will be committed with the work of the task; add them to .gitignore\n",
  );
  expect((await readWorktreeStatus(worktree, scene.repository)).files).toHaveLength(Math.min(count, 1_000));
  expect(existsSync(join(scene.user.path, ".git/rookery/t1.setup"))).toBe(false);
});

it("reads no file that changed its size, and does not follow links", async () => {
  await using scene = await openScene(FILES);
  const worktree = await leaseWithSetUp(scene, "echo made > made.txt; mkdir gen; echo x > gen/x");
  await mkdir(join(scene.user.path, "elsewhere"));
  await scene.user.write("elsewhere/x", "x\n");
  await rm(join(worktree.path, "gen"), { recursive: true });
  await scene.user.git(
    "-C",
    worktree.path,
    "-c",
    "alias.x=!rm made.txt; mkfifo made.txt; ln -s ../../../elsewhere gen",
    "x",
  );
  expect((await readWorktreeStatus(worktree, scene.repository)).files).toEqual(["gen"]);
  expect(await commitWork(scene, worktree)).toEqual(["gen"]);
  expect(await readFile(join(scene.user.path, "elsewhere/x"), "utf8")).toBe("x\n");
});
