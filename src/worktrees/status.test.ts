import { readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commitAll } from "./commit.ts";
import { MAX_DIFF_BYTES, readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { listWorktreeCommits, isBranchMerged, readWorktreeStatus } from "./status.ts";
import type { Worktree } from "./record.ts";
import { removeWorktree } from "./remove.ts";
import { openScene, expectRejection, type Scene } from "./test-scene.ts";

const lease = (scene: Scene): Promise<Worktree> => leaseWorktree(scene.repository, { id: "t1", branch: "rookery/t1" });

it("reports no changes for a new worktree", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  const { baseCommit } = worktree;
  expect(await readWorktreeStatus(worktree, scene.repository)).toEqual({
    headCommit: baseCommit,
    branch: "rookery/t1",
    uncommitted: false,
    files: [],
    commits: 0,
    behind: 0,
  });
  expect(await readWorktreeDiff(worktree, scene.repository, { patch: true })).toEqual({
    base: baseCommit,
    files: [],
    additions: 0,
    deletions: 0,
    commits: [],
    uncommitted: false,
    truncated: false,
    patch: "",
  });
  expect(await commitAll(worktree, scene.repository, { message: "Nothing" })).toBeUndefined();
});

it("reports committed, staged, changed, moved, deleted, binary and new files with unusual names", async () => {
  const long = Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join("");
  await using scene = await openScene({
    "a.txt": "one\ntwo\n",
    "to move.txt": long,
    "gone.txt": "x\n",
    ".gitignore": "ignored.txt\n",
  });
  const { user, repository } = scene;
  const worktree = await lease(scene);
  const at = (file: string) => join(worktree.path, file);
  await writeFile(at("committed.txt"), "1\n2\n3\n");
  await user.git("-C", worktree.path, "add", "committed.txt");
  await user.git("-C", worktree.path, "commit", "--quiet", "-m", "Add one: with\ttab");
  await user.git("commit", "--quiet", "--allow-empty", "-m", "Advance main");
  await user.git("-C", worktree.path, "mv", "to move.txt", "möved ✓.txt");
  await writeFile(at("a.txt"), "one\nthree\n");
  await rm(at("gone.txt"));
  await writeFile(at("new file\nü.txt"), "n\n");
  await writeFile(at(":(glob)*.bin"), Buffer.from([0, 1, 2, 0, 255]));
  await symlink("a.txt", at("link"));
  await writeFile(at("ignored.txt"), "x");

  const diff = await readWorktreeDiff(worktree, repository, { patch: true });
  const summary = diff.files.map(({ path, from, change, additions, deletions, binary }) =>
    [change, path, from ?? "-", binary ? "binary" : `+${additions} -${deletions}`].join(" | "),
  );
  expect(summary.sort()).toEqual([
    "added | committed.txt | - | +3 -0",
    "deleted | gone.txt | - | +0 -1",
    "modified | a.txt | - | +1 -1",
    "renamed | möved ✓.txt | to move.txt | +0 -0",
    "untracked | :(glob)*.bin | - | binary",
    "untracked | link | - | +1 -0",
    "untracked | new file\nü.txt | - | +1 -0",
  ]);
  expect(diff).toMatchObject({ additions: 6, deletions: 2, uncommitted: true, truncated: false });
  expect(diff.commits).toEqual([expect.objectContaining({ subject: "Add one: with\ttab", author: "Rookery Test" })]);
  expect(diff.patch).toContain("+three");
  expect(diff.patch).toContain("rename to ");
  expect(await readWorktreeStatus(worktree, repository)).toMatchObject({ uncommitted: true, commits: 1, behind: 1 });
  expect((await readWorktreeStatus(worktree, repository)).files).toContain("new file\nü.txt");
  // The agent's index is unchanged, and no temporary index is left.
  expect(await user.git("-C", worktree.path, "diff", "--cached", "--name-only", "--no-renames")).not.toContain("new");
  expect((await readdir(join(user.path, ".git/worktrees/t1"))).filter((name) => name.startsWith("rookery"))).toEqual(
    [],
  );
});

it("truncates a patch at a complete line", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await writeFile(join(worktree.path, "big.txt"), "ü".repeat(99).concat("\n").repeat(40_000));
  const diff = await readWorktreeDiff(worktree, scene.repository, { patch: true });
  expect(diff).toMatchObject({ truncated: true, additions: 40_000 });
  expect(Buffer.byteLength(diff.patch ?? "")).toBeLessThanOrEqual(MAX_DIFF_BYTES);
  expect(diff.patch).toMatch(/\n\+ü{99}\n$/);
});

it("runs no program that a setting or attribute names for a diff", async () => {
  await using scene = await openScene({ "a.txt": "one\n", ".gitattributes": "*.txt diff=evil\n" });
  const ran = join(scene.user.path, "ran");
  await scene.user.git("config", "diff.external", `touch ${ran}; true`);
  await scene.user.git("config", "diff.evil.textconv", `touch ${ran}; cat`);
  await scene.user.git("config", "diff.noprefix", "true");
  const worktree = await lease(scene);
  await writeFile(join(worktree.path, "a.txt"), "two\n");
  expect((await readWorktreeDiff(worktree, scene.repository, { patch: true })).patch).toContain(
    "--- a/a.txt\n+++ b/a.txt\n",
  );
  expect(await readdir(scene.user.path)).not.toContain("ran");
});

it("commits all changes without hooks or signatures, except excluded files", async () => {
  await using scene = await openScene({ "a.txt": "one\n", "b.txt": "b\n" });
  const { user, repository } = scene;
  await user.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
  await user.write(".git/hooks/commit-msg", "#!/bin/sh\nexit 1\n");
  await user.git("config", "commit.gpgSign", "true");
  await user.git("config", "gpg.program", "false");
  const worktree = await lease(scene);
  for (const file of ["a.txt", "new ü.txt", ".env"]) await writeFile(join(worktree.path, file), "new\n");
  await rm(join(worktree.path, "b.txt"));
  const message = "# Do it\n\nRookery-Task: t1\n";
  const commit = await commitAll(worktree, repository, { message, exclude: [".env"] });
  expect(commit).toBe(await user.git("rev-parse", "rookery/t1"));
  expect(await user.git("log", "-1", "--format=%B", "rookery/t1")).toContain("# Do it\n\nRookery-Task: t1");
  expect(
    (await user.git("-c", "core.quotePath=false", "show", "--name-status", "--format=", "rookery/t1")).split("\n"),
  ).toEqual(["M\ta.txt", "D\tb.txt", "A\tnew ü.txt"]);
  expect((await readWorktreeStatus(worktree, repository)).files).toEqual([".env"]);
  expect(await commitAll(worktree, repository, { message, exclude: [".env"] })).toBeUndefined();
  expect(await listWorktreeCommits(worktree, repository)).toHaveLength(1);
});

it("excludes files whether or not they are ignored or exist", async () => {
  await using scene = await openScene({ "a.txt": "one\n", ".gitignore": ".env\n" });
  const { user, repository } = scene;
  const worktree = await lease(scene);
  for (const name of [".env", ".env.local", "new.txt"]) await writeFile(join(worktree.path, name), "x\n");
  await commitAll(worktree, repository, { message: "New", exclude: [".env", ".env.local", "missing"] });
  expect(await user.git("show", "--name-only", "--format=", "rookery/t1")).toBe("new.txt");
});

it("does not commit during a merge or without an identity", async () => {
  await using scene = await openScene();
  const { user, repository } = scene;
  const worktree = await lease(scene);
  await writeFile(join(worktree.path, "a.txt"), "mine\n");
  await user.git("config", "--unset", "user.email");
  await expectRejection(commitAll(worktree, repository, { message: "x" }), "identity_missing");
  await user.git("config", "user.email", "x@y.invalid");
  await commitAll(worktree, repository, { message: "Mine" });
  await user.write("a.txt", "theirs\n");
  await user.git("commit", "--quiet", "--all", "-m", "Theirs");
  await expect(user.git("-C", worktree.path, "merge", "main")).rejects.toThrow();
  await expectRejection(commitAll(worktree, repository, { message: "x" }), "merge_conflict", /a\.txt/);
  expect((await readWorktreeDiff(worktree, repository)).files).toMatchObject([{ path: "a.txt", change: "unmerged" }]);
});

it("reports whether a branch is merged into another", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await scene.user.git("-C", worktree.path, "commit", "--quiet", "--allow-empty", "-m", "Work");
  expect(await isBranchMerged(worktree, scene.repository, "main")).toBe(false);
  await scene.user.git("merge", "--quiet", "--no-ff", "rookery/t1");
  expect(await isBranchMerged(worktree, scene.repository, "main")).toBe(true);
});

it("names a worktree that is missing", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await rename(worktree.path, `${worktree.path}-moved`);
  await expectRejection(readWorktreeStatus(worktree, scene.repository), "worktree_missing", /t1/);
  await expectRejection(readWorktreeDiff(worktree, scene.repository), "worktree_missing");
});

it("lists a nested repository, leaves it out of commits, and protects it from removal", async () => {
  await using scene = await openScene();
  const { user, repository } = scene;
  const worktree = await lease(scene);
  await user.git("init", "--quiet", join(worktree.path, "empty"));
  await user.git("init", "--quiet", join(worktree.path, "sub/full"));
  const who = ["-c", "user.name=x", "-c", "user.email=x@y.invalid"];
  await user.git("-C", join(worktree.path, "sub/full"), ...who, "commit", "--quiet", "--allow-empty", "-m", "Inside");
  await writeFile(join(worktree.path, "sub/own.txt"), "own\n");
  const { files } = await readWorktreeDiff(worktree, repository, { patch: true });
  expect(files.map(({ path, change }) => `${change} ${path}`).sort()).toEqual([
    "untracked empty/",
    "untracked sub/full/",
    "untracked sub/own.txt",
  ]);
  const commit = await commitAll(worktree, repository, { message: "Work" });
  expect(await user.git("show", "--format=", "--name-only", commit ?? "")).toBe("sub/own.txt");
  await user.git("merge", "--quiet", "rookery/t1");
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /empty\/, sub\/full\//);
  await user.git("-C", worktree.path, "add", "sub/full");
  await user.git("-C", worktree.path, "commit", "--quiet", "-m", "Take it in");
  await rm(join(worktree.path, "empty"), { recursive: true });
  await user.git("merge", "--quiet", "rookery/t1");
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /submodules sub\/full/);
});
