/** Reads the diff of a worktree against its base: committed, uncommitted and untracked changes. */
import { randomBytes } from "node:crypto";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ChangedFile, TaskDiff } from "../domain/index.ts";
import { unstage } from "./commit.ts";
import {
  assertWorktreeExists,
  listCommits,
  listWorktreeCommits,
  parseEmbeddedRepositories,
  parseUnmergedFiles,
} from "./status.ts";
import { STATUS_FLAGS, type StatusEntry } from "./status-entry.ts";
import { listChangedGitlinks } from "./gitlinks.ts";
import { readGitDirPointer } from "./linked-worktrees.ts";
import { displayName, joinNames, readNames, type ByteName } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository, RepositoryRunOptions } from "./repository.ts";
import { listUnchangedSetUpFiles } from "./set-up-files.ts";

export interface DiffOptions {
  /** Include the patch text. Default: false. */
  readonly patch?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const MAX_DIFF_BYTES = 4 * 1024 * 1024;
/** Files beyond this count in the totals, but are not listed. */
const MAX_FILES = 10_000;

/** Disables external diff programs and the user's diff settings. */
const DIFF_FLAGS = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--find-renames",
  "--ignore-submodules=dirty",
  "--submodule=short",
];

/** For `parseDiff`. */
const LIST_FLAGS = ["--raw", "--numstat", "-z", "--abbrev=40"];

/**
 * Leaves out files that are as the setup left them. Rejects with `worktree_missing` if the worktree does not exist.
 */
export async function readWorktreeDiff(
  worktree: Worktree,
  repository: Repository,
  options: DiffOptions = {},
): Promise<TaskDiff> {
  await assertWorktreeExists(worktree, repository);
  const { signal } = options;
  const at = { cwd: worktree.path, signal };
  const [{ listed: setUp }, all, changed, base, commits] = await Promise.all([
    listUnchangedSetUpFiles(worktree, repository, { signal }),
    readNames(repository, ["status", "--porcelain=v1", ...STATUS_FLAGS], at),
    listChangedGitlinks(repository, at),
    findDiffBase(worktree.baseCommit, "HEAD", repository, at),
    listWorktreeCommits(worktree, repository, { signal }),
  ]);
  const lines = all.filter((line) => !setUp.has(line.slice(3)));
  const embedded = parseEmbeddedRepositories(lines);
  const untracked = lines.flatMap((line) => (line.startsWith("?? ") && !line.endsWith("/") ? [line.slice(3)] : []));
  await using index = await copyIndexWith(worktree, repository, { add: untracked, hide: [...setUp.values()] }, at);
  const withIndex = { ...at, index: index.file };
  const [listed, patch] = await Promise.all([
    readNames(repository, ["diff", ...LIST_FLAGS, ...DIFF_FLAGS, base, "--"], withIndex),
    options.patch === true ? readPatch(repository, [base], withIndex) : undefined,
  ]);
  const known = { untracked: new Set(untracked), unmerged: new Set(parseUnmergedFiles(lines)) };
  const parsed = parseDiff(listed, known);
  const nested = [
    ...embedded.map((path): ChangedFile => ({ path, change: "untracked", binary: false })),
    ...changed.filter((path) => !parsed.some((file) => file.path === path)).map(toChangedSubmodule),
  ];
  const uncommitted = lines.length > 0 || changed.length > 0;
  return toTaskDiff([...parsed, ...nested], patch, { base, commits, uncommitted });
}

/**
 * Reads the diff of a snapshot of a worktree, see `mirror/snapshot.ts`. The snapshot and the base must be in the
 * repository. Untracked files are `added`, because a snapshot does not say which ones they were.
 */
export async function readSnapshotDiff(
  snapshot: string,
  { baseCommit }: Pick<Worktree, "baseCommit">,
  repository: Repository,
  options: DiffOptions = {},
): Promise<TaskDiff> {
  const at = { signal: options.signal };
  const head = `${snapshot}^1`;
  const base = await findDiffBase(baseCommit, head, repository, at);
  const [commits, trees, listed, patch] = await Promise.all([
    listCommits(repository, `${baseCommit}..${head}`, at),
    repository.git(["rev-parse", `${head}^{tree}`, `${snapshot}^{tree}`], at),
    readNames(repository, ["diff", ...LIST_FLAGS, ...DIFF_FLAGS, base, snapshot, "--"], at),
    options.patch === true ? readPatch(repository, [base, snapshot], at) : undefined,
  ]);
  const [committed, saved] = trees.split("\n");
  const files = parseDiff(listed, { untracked: new Set(), unmerged: new Set() });
  return toTaskDiff(files, patch, { base, commits, uncommitted: committed !== saved });
}

function toTaskDiff(
  files: readonly ChangedFile[],
  patch: Awaited<ReturnType<typeof readPatch>> | undefined,
  rest: Pick<TaskDiff, "base" | "commits" | "uncommitted">,
): TaskDiff {
  const sum = (of: "additions" | "deletions"): number => files.reduce((total, file) => total + (file[of] ?? 0), 0);
  return {
    ...rest,
    files: files.slice(0, MAX_FILES).map(toDisplayFile),
    additions: sum("additions"),
    deletions: sum("deletions"),
    truncated: patch?.truncated === true || files.length > MAX_FILES,
    ...(patch !== undefined && { patch: patch.text }),
  };
}

/** An entry for a submodule at the same commit whose files have changed. */
function toChangedSubmodule(path: ByteName): ChangedFile {
  return { path, change: "modified", binary: false };
}

function toDisplayFile(file: ChangedFile): ChangedFile {
  const { path, from } = file;
  return { ...file, path: displayName(path), ...(from !== undefined && { from: displayName(from) }) };
}

/** Returns the merge base of the branch and its base commit, or the base commit if they have none after a rebase. */
async function findDiffBase(
  baseCommit: string,
  head: string,
  repository: Repository,
  at: RepositoryRunOptions,
): Promise<string> {
  const { code, stdout } = await repository.gitTry(["merge-base", baseCommit, head], at);
  return code === 0 ? stdout.trim() : baseCommit;
}

/**
 * Copies the index, and adds and hides files in the copy; the real index belongs to the agent. Uses no copy if there
 * are none.
 */
async function copyIndexWith(
  worktree: Worktree,
  repository: Repository,
  { add, hide }: { readonly add: readonly ByteName[]; readonly hide: readonly StatusEntry[] },
  at: RepositoryRunOptions,
): Promise<AsyncDisposable & { readonly file: string | undefined }> {
  const dir = add.length + hide.length === 0 ? undefined : await readGitDirPointer(worktree.path);
  if (dir === undefined) return { file: undefined, [Symbol.asyncDispose]: () => Promise.resolve() };
  const file = join(dir, `rookery-${randomBytes(6).toString("hex")}.index`);
  const remove = () => rm(file, { force: true });
  try {
    await copyFile(join(dir, "index"), file);
    await hideChanges(repository, hide, { ...at, index: file });
    const intend = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
    const input = joinNames(add);
    if (add.length > 0) await repository.git(["--literal-pathspecs", ...intend], { ...at, index: file, input });
    return { file, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Makes git treat the HEAD version of these files as the one in the worktree. */
async function hideChanges(
  repository: Repository,
  entries: readonly StatusEntry[],
  run: RepositoryRunOptions,
): Promise<void> {
  await unstage(
    repository,
    entries.filter(({ isStaged }) => isStaged).map(({ path }) => path),
    run,
  );
  const tracked = entries.filter(({ head }) => head !== "").map(({ path }) => path);
  if (tracked.length === 0) return;
  const args = ["update-index", "--assume-unchanged", "-z", "--stdin"];
  await repository.git(args, { ...run, input: joinNames(tracked) });
}

/** `commits`: one to compare with the worktree, or two. */
async function readPatch(repository: Repository, commits: readonly string[], at: RepositoryRunOptions) {
  const args = ["diff", "--src-prefix=a/", "--dst-prefix=b/", ...DIFF_FLAGS, ...commits, "--"];
  const result = await repository.gitTry(args, { ...at, truncateAt: MAX_DIFF_BYTES });
  if (!result.truncated) return { text: result.stdout, truncated: false };
  return { text: result.stdout.slice(0, result.stdout.lastIndexOf("\n") + 1), truncated: true }; // end at a complete line
}

const CHANGES: Readonly<Record<string, ChangedFile["change"]>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
  U: "unmerged",
};

/**
 * Parses the `-z` output of git 2.39: for each file `:modes and ids STATUS` NUL path NUL, with a second path if it was moved;
 * then `additions TAB deletions TAB path` NUL, with an empty path and two more fields if it was moved.
 */
function parseDiff(
  fields: readonly ByteName[],
  { untracked, unmerged }: Record<"untracked" | "unmerged", ReadonlySet<ByteName>>,
): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? "";
    if (field.startsWith(":")) {
      const letter = field.slice(field.lastIndexOf(" ") + 1).charAt(0);
      const first = fields[(at += 1)] ?? "";
      const moved = letter === "R" || letter === "C";
      const path = moved ? (fields[(at += 1)] ?? "") : first;
      const known = CHANGES[letter] ?? "modified";
      const change = untracked.has(path) ? "untracked" : unmerged.has(path) ? "unmerged" : known;
      files.set(path, { path, change, binary: false, ...(moved && { from: first }) });
      continue;
    }
    const [, added, deleted, name] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(field) ?? [];
    if (added === undefined) continue;
    const path = name === "" ? (fields[(at += 2)] ?? "") : (name ?? "");
    const file = files.get(path);
    if (file === undefined) continue;
    const counts = added === "-" ? { binary: true } : { additions: Number(added), deletions: Number(deleted) };
    files.set(path, { ...file, ...counts });
  }
  return [...files.values()];
}
