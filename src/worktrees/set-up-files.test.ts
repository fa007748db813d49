// own process: starts programs
import { existsSync } from "node:fs";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitAll } from "./commit.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { removeWorktree } from "./remove.ts";
import { setUpWorktree } from "./set-up.ts";
import { readWorktreeStatus } from "./status.ts";
import { MARKER, expectRejection, openScene } from "./test-scene.ts";

/** Leaves an untracked, a staged, a changed, a deleted and a hidden file, and a name that is not UTF-8. */
const SET_UP = [
  "echo made > made.txt",
  "echo staged > staged.txt && git add staged.txt",
  "echo 2 > lock.json",
  "rm gone.txt",
  "echo local > config.ini && git update-index --skip-worktree config.ini",
  `printf x > "$(printf 'caf\\351\\n.txt')"`,
].join("; ");

async function openSetUp() {
  const scene = await openScene({ "a.txt": "one\n", "lock.json": "1\n", "gone.txt": "x\n", "config.ini": "plain\n" });
  const { repository, env, user } = scene;
  const worktree = await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
  const options = { copy: [], command: SET_UP, timeoutMs: 60_000, env, marker: MARKER, onOutput: () => undefined };
  await setUpWorktree(worktree, repository, options);
  const committed = async (): Promise<string> => {
    const commit = await commitAll(worktree, repository, { message: "Work" });
    return commit === undefined ? "" : user.git("show", "--format=", "--name-only", commit);
  };
  return { ...scene, worktree, committed };
}

it("excludes unchanged setup files from status, diff and commits, and removes them", async () => {
  await using s = await openSetUp();
  const { worktree, repository } = s;
  expect(await readWorktreeStatus(worktree, repository)).toMatchObject({ uncommitted: false, files: [], commits: 0 });
  expect(await readWorktreeDiff(worktree, repository, { patch: true })).toMatchObject({
    files: [],
    uncommitted: false,
    patch: "",
  });
  expect(await s.committed()).toBe("");
  await removeWorktree(repository, worktree);
  expect(existsSync(worktree.path)).toBe(false);
});

it("commits only those that the agent changes", async () => {
  await using s = await openSetUp();
  const { worktree, repository } = s;
  for (const name of ["lock.json", "staged.txt", "work.txt"]) await appendFile(join(worktree.path, name), "more\n");
  expect(await s.committed()).toBe("lock.json\nstaged.txt\nwork.txt");
  expect((await readWorktreeStatus(worktree, repository)).files).toEqual([]);
  await writeFile(join(worktree.path, "config.ini"), "the agent's\n");
  await expectRejection(
    removeWorktree(repository, worktree, { mergedTip: "HEAD" }),
    "worktree_unmerged",
    /config\.ini/,
  );
});
