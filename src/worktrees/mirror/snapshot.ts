/**
 * Snapshots of a worktree: one commit with everything that is not ignored, committed or not. It changes neither the index
 * nor the branch of the worktree.
 *
 * The first parent is the commit that is checked out; the differences from it are the uncommitted work. The second parent,
 * if any, is the head of the task's branch, if something else is checked out.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, copyFile, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { joinByteName, displayName, joinNames, readNames, toByteName, type ByteName } from "../byte-names.ts";
import { hiddenChanges } from "../hidden-changes.ts";
import { ifAbsent } from "../if-absent.ts";
import { findLinkedWorktree } from "../linked-worktrees.ts";
import { readCommitter, writeCommit } from "../merge/commit-object.ts";
import type { Worktree } from "../record.ts";
import type { Repository, RepositoryRunOptions } from "../repository.ts";
import { listUnchangedSetUpFiles } from "../set-up-files.ts";
import { STATUS_FLAGS, parseStatusEntry } from "../status-entry.ts";
import { assertWorktreeExists } from "../status.ts";

export interface SnapshotOptions {
  /** Files and folders that stay on this host, such as copied files with secrets. */
  readonly exclude?: readonly string[] | undefined;
  /** Larger files are omitted. Default: 50 MB. */
  readonly maxFileBytes?: number | undefined;
  /** Files beyond this total are omitted. Default: 500 MB. */
  readonly maxTotalBytes?: number | undefined;
  /** Text of the commit. */
  readonly message: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Snapshot {
  /** Parents and tree. Two snapshots of the same work have the same content. */
  readonly content: string;
  readonly commit: string;
  /** Files that exceed a limit or cannot be read, and nested repositories, for a person, at most 100. */
  readonly omitted: readonly string[];
}

const MAX_FILE_BYTES = 50 * 1024 * 1024;
const MAX_TOTAL_BYTES = 500 * 1024 * 1024;
const MAX_OMITTED = 100;

/**
 * Leaves out ignored files, files that are as the set-up left them, `exclude`, and changes inside submodules and other
 * nested repositories. Writes no commit if the content is `known`. Rejects with `worktree_missing`.
 */
export async function snapshotWorktree(
  worktree: Worktree,
  repository: Repository,
  options: SnapshotOptions,
  known?: Snapshot,
): Promise<Snapshot> {
  const { signal } = options;
  await assertWorktreeExists(worktree, repository);
  const linked = await findLinkedWorktree(repository, worktree.path);
  const folder = linked?.dir ?? repository.commonDir;
  const index = join(folder, `rookery-${randomBytes(6).toString("hex")}.index`);
  const at = { cwd: worktree.path, index, signal };
  try {
    const isCopied = await ifAbsent(
      copyFile(join(folder, "index"), index).then(() => true),
      false,
    );
    if (!isCopied) await repository.git(["read-tree", "HEAD"], at);
    const { present, missing, omitted } = await listWork(worktree, repository, at, options);
    await updateIndex(repository, at, ["--force-remove"], missing);
    await updateIndex(repository, at, ["--add", "--remove", "--replace"], present);
    const tree = await repository.git(["write-tree"], at);
    const [head = "", tip = ""] = (
      await repository.git(["rev-parse", "HEAD", `refs/heads/${worktree.branch}`], { cwd: worktree.path, signal })
    ).split("\n");
    const parents = head === tip ? [head] : [head, tip];
    const content = [...parents, tree].join(" ");
    if (content === known?.content) return { ...known, omitted };
    const committer = await readCommitter(repository, signal);
    const commit = await writeCommit(repository, { tree, parents, committer, message: options.message }, signal);
    return { content, commit, omitted };
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

interface Work {
  readonly present: readonly ByteName[];
  readonly missing: readonly ByteName[];
  readonly omitted: readonly string[];
}

async function listWork(
  worktree: Worktree,
  repository: Repository,
  at: RepositoryRunOptions,
  { exclude = [], maxFileBytes = MAX_FILE_BYTES, maxTotalBytes = MAX_TOTAL_BYTES, signal }: SnapshotOptions,
): Promise<Work> {
  const hidden = await hiddenChanges(repository, worktree, signal);
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"]) await updateIndex(repository, at, [flag], hidden);
  const lines = await readNames(repository, ["status", "--porcelain=v2", ...STATUS_FLAGS], at);
  const { listed: setUp } = await listUnchangedSetUpFiles(worktree, repository, { signal });
  const excluded = exclude.map((path) => toByteName(path.replace(/\/+$/, "")));
  const isExcluded = (path: ByteName) =>
    setUp.has(path) || excluded.some((each) => path === each || path.startsWith(`${each}/`));
  const present: ByteName[] = [];
  const missing: ByteName[] = [];
  const omitted: string[] = [];
  let total = 0;
  for (const line of lines.filter((each) => !isExcluded(parseStatusEntry(each).path))) {
    const { path, isGitlink } = parseStatusEntry(line);
    if (isGitlink || path.endsWith("/")) {
      omitted.push(`${displayName(path)} (a nested repository)`);
    } else if (/^[1u] .D /.test(line)) {
      missing.push(path);
    } else {
      const { size, problem } = await inspectFile(joinByteName(worktree.path, path));
      const isOver = total + size > maxTotalBytes;
      const tooLarge = size > maxFileBytes ? "too large" : isOver ? "over the total limit" : undefined;
      const why = problem ?? (tooLarge && `${tooLarge}: ${Math.ceil(size / (1024 * 1024))} MB`);
      if (why === undefined) {
        present.push(path);
        total += size;
      } else omitted.push(`${displayName(path)} (${why})`);
    }
  }
  return { present, missing, omitted: omitted.slice(0, MAX_OMITTED) };
}

/** If git cannot read one file, it fails for all of them. */
async function inspectFile(path: Buffer): Promise<{ readonly size: number; readonly problem?: string }> {
  const found = await ifAbsent(lstat(path), undefined);
  if (found === undefined || found.isSymbolicLink()) return { size: 0 };
  if (!found.isFile()) return { size: 0, problem: "not a regular file" };
  const isReadable = await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
  return { size: found.size, ...(!isReadable && { problem: "not readable" }) };
}

async function updateIndex(
  repository: Repository,
  at: RepositoryRunOptions,
  flags: readonly string[],
  paths: readonly ByteName[],
): Promise<void> {
  if (paths.length === 0) return;
  await repository.git(["update-index", ...flags, "-z", "--stdin"], { ...at, input: joinNames(paths) });
}
