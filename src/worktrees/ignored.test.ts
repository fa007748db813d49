import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { collectWorktrees, examineWorktrees } from "./collect/index.ts";
import { commitAll } from "./commit.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { findLoss } from "./loss.ts";
import { predictBranchMerge } from "./merge/index.ts";
import type { Worktree } from "./record.ts";
import { removeWorktree } from "./remove.ts";
import { setUpWorktree } from "./set-up.ts";
import { MARKER, openScene, expectRejection, type Scene } from "./test-scene.ts";

const lease = ({ repository }: Scene): Promise<Worktree> =>
  leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
const ended = { id: "t1", branch: "rookery/t1", base: "main", inUse: false, endedAt: "2026-01-01T00:00:00Z" };

async function write(folder: string, file: string, text: string): Promise<void> {
  await mkdir(join(folder, file, ".."), { recursive: true });
  await writeFile(join(folder, file), text);
}

it("keeps ignored files that exist nowhere else, and names them in gc and remove", async () => {
  await using scene = await openScene({ "a.txt": "one\n", ".gitignore": "*.local\nout/\n" });
  const worktree = await lease(scene);
  await write(worktree.path, "deep/notes.local", "found nowhere else\n");
  await write(worktree.path, "out/report.txt", "nor this\n");
  for (const dryRun of [true, false]) {
    const report = await collectWorktrees(scene.repository, await examineWorktrees(scene.repository, [ended]), {
      dryRun,
    });
    expect(report.removed).toEqual([]);
    expect(report.kept[0]?.why).toMatch(
      /2 ignored files are found nowhere else: deep\/notes\.local, out\/report\.txt.*--force/,
    );
  }
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /deep\/notes\.local.*--force/);
  expect(await readFile(join(worktree.path, "out/report.txt"), "utf8")).toBe("nor this\n");
  await removeWorktree(scene.repository, worktree, { force: true });
  expect(existsSync(worktree.path)).toBe(false);
});

it("keeps a file that is ignored by a .gitignore of the agent", async () => {
  await using scene = await openScene();
  const worktree = await lease(scene);
  await write(worktree.path, ".gitignore", "*\n");
  await write(worktree.path, "work.txt", "work\n");
  await expectRejection(removeWorktree(scene.repository, worktree), "worktree_unmerged", /\.gitignore, work\.txt/);
});

it("removes unchanged setup files, copies of main checkout files, and folders that tools can recreate", async () => {
  await using scene = await openScene({
    "a.txt": "one\n",
    ".gitignore": ".env\nmade*\nnode_modules\ntarget\n.venv\n.late\n",
  });
  const { user, repository, env } = scene;
  await user.write(".env", "KEY=1\n");
  await user.write(".late", "the same\n");
  const worktree = await lease(scene);
  const command = "echo built > made.txt; mkdir made-too; echo x > made-too/x";
  const options = { copy: [".env"], command, timeoutMs: 60_000, env, marker: MARKER, onOutput: () => undefined };
  await setUpWorktree(worktree, repository, options);
  await user.write(".env", "KEY=2\n");
  await write(worktree.path, "node_modules/p/index.js", "p\n");
  await write(worktree.path, "target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# by cargo\n");
  await write(worktree.path, "target/debug/x", "x\n");
  await write(worktree.path, ".venv/pyvenv.cfg", "home = /usr\n");
  await write(worktree.path, ".late", "the same\n");
  expect(await findLoss(worktree, repository)).toMatchObject({ ignored: [], files: [] });
  await write(worktree.path, "made.txt", "changed by the agent\n");
  await write(worktree.path, "made-too/y", "new\n");
  expect((await findLoss(worktree, repository)).ignored).toEqual(["made-too/y", "made.txt"]);
  await writeFile(join(worktree.path, "made.txt"), "");
  await removeWorktree(repository, worktree, { force: true });
});

it("quotes names that are not UTF-8 like git, and diffs, commits and keeps their files", async () => {
  await using scene = await openScene();
  const { user, repository } = scene;
  const worktree = await lease(scene);
  const at = (folder: string, name: string) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]);
  await writeFile(at(worktree.path, "caf\xe9.txt"), "untracked\n");
  await writeFile(at(worktree.path, "caf\xe8.txt"), "another\n");
  const before = await readWorktreeDiff(worktree, repository, { patch: true });
  expect(before.files.map(({ path, change, additions }) => [path, change, additions])).toEqual([
    ['"caf\\350.txt"', "untracked", 1],
    ['"caf\\351.txt"', "untracked", 1],
  ]);
  expect(before.patch).toContain("+untracked");
  await expectRejection(removeWorktree(repository, worktree), "worktree_unmerged", /"caf\\350\.txt", "caf\\351\.txt"/);
  await commitAll(worktree, repository, { message: "Work" });
  expect((await readWorktreeDiff(worktree, repository)).files).toMatchObject([
    { change: "added" },
    { change: "added" },
  ]);
  await writeFile(at(user.path, "caf\xe9.txt"), "the user's\n");
  await user.git("add", "--all");
  await user.git("commit", "--quiet", "-m", "Also");
  const report = await predictBranchMerge(repository, { branch: "rookery/t1", into: "main", how: "merge" });
  expect(report).toMatchObject({ outcome: "conflicts", conflicts: ['"caf\\351.txt"'] });
});
