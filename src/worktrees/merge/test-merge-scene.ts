/** A test repository with a branch to merge, and checks of the user's state before and after. */
import { createHash } from "node:crypto";
import { lstat, readFile, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { openScene, type Scene } from "../test-scene.ts";

export const LINES = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);

export function lines(changes: Readonly<Record<number, string>> = {}): string {
  return LINES.map((line, at) => `${changes[at + 1] ?? line}\n`).join("");
}

/**
 * `main` and `task` have diverged: `task` has two commits, to `a.txt` and `new.txt`. `main` is checked out and clean. A third
 * branch is `other`.
 */
export async function openMergeScene(): Promise<Scene> {
  const scene = await openScene({ "a.txt": lines(), "b.txt": "b\n", "c.txt": "c\n" });
  const { user, repository } = scene;
  const stream = [
    "reset refs/heads/other\nfrom refs/heads/main\n",
    formatImportCommit("task", "Say it once", "a.txt", lines({ 2: "by the task" }), "refs/heads/main"),
    formatImportCommit("task", "Say it twice\n\nWith a body.", "new.txt", "new\n"),
    formatImportCommit("main", "Change c", "c.txt", "c, changed\n", "refs/heads/main^0"),
  ];
  await repository.git(["fast-import", "--quiet"], { input: stream.join("\n") });
  await user.git("reset", "--quiet", "--hard");
  return scene;
}

/** Formats a commit for `git fast-import`, which creates many at once. */
function formatImportCommit(branch: string, message: string, file: string, text: string, from?: string): string {
  const data = (bytes: string): string => `data ${Buffer.byteLength(bytes)}\n${bytes}`;
  const who = "A Task <task@rookery.invalid> 1735700000 +0200";
  return [
    `commit refs/heads/${branch}`,
    `author ${who}`,
    `committer ${who}`,
    data(message),
    ...(from === undefined ? [] : [`from ${from}`]),
    `M 100644 inline ${file}`,
    data(text),
  ].join("\n");
}

export async function commitChange({ user }: Scene, file: string, text: string, message: string): Promise<void> {
  await user.write(file, text);
  await user.git("add", "--all", "--", file);
  await user.git("commit", "--quiet", `--message=${message}`);
}

/** Everything that belongs to the user: every file, the index, HEAD and all branches. */
export async function readUserState({ user }: Scene): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  await readFiles(user.path, "", state);
  state["the index"] = digest(await readFile(join(user.path, ".git", "index")));
  state["HEAD"] = await readFile(join(user.path, ".git", "HEAD"), "utf8");
  state["the branches"] = await user.git("for-each-ref", "--format=%(refname) %(objectname)");
  return state;
}

/** Expects an intact repository without temporary checkouts or locks. */
export async function expectConsistent({ user }: Scene): Promise<void> {
  const problems = await user.git("fsck", "--strict", "--no-dangling", "--no-progress");
  expect(problems).toBe("");
  const listed = await user.git("worktree", "list", "--porcelain");
  expect(listed).not.toContain("merging");
  expect(await readdir(join(user.path, ".rookery", "merging")).catch(() => [])).toEqual([]);
  const left = (await readdir(join(user.path, ".git"))).filter((name) => name.includes("lock"));
  expect(left).toEqual([]);
}

async function readFiles(root: string, below: string, state: Record<string, string>): Promise<void> {
  for (const name of await readdir(join(root, below))) {
    const path = join(below, name);
    if (path === ".git" || path === ".rookery") continue;
    const found = await lstat(join(root, path));
    if (found.isDirectory()) await readFiles(root, path, state);
    else if (found.isSymbolicLink()) state[path] = `-> ${await readlink(join(root, path))}`;
    else state[path] = `${found.mode.toString(8)} ${digest(await readFile(join(root, path)))}`;
  }
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
