/** Finds the work that would be lost if a worktree were removed. */
import { readdir } from "node:fs/promises";
import { RookeryError } from "../domain/index.ts";
import { ifAbsent } from "./if-absent.ts";
import { listChangedGitlinks } from "./gitlinks.ts";
import { hiddenChanges } from "./hidden-changes.ts";
import { findIgnoredLoss } from "./ignored.ts";
import { isLinkedWorktree } from "./linked-worktrees.ts";
import { listUnchangedSetUpFiles } from "./set-up-files.ts";
import { STATUS_FLAGS } from "./status-entry.ts";
import { listSubmodulesWithOwnCommits } from "./nested-repositories.ts";
import { displayName, readNames } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

export interface WorktreeLoss {
  /** Uncommitted files, relative to the root, without ignored ones and those that are as the setup left them. */
  readonly files: readonly string[];
  /** Ignored files that exist nowhere else. */
  readonly ignored: readonly string[];
  /** Number of commits that no other branch, tag or remote branch contains. */
  readonly commits: number;
  /** Submodules with commits that exist nowhere else. */
  readonly submodules: readonly string[];
}

export interface KnownMerge {
  /** Head of the branch when it was merged by squash or rebase, which the history does not show. Commits up to it are not lost. */
  readonly mergedTip?: string | undefined;
}

/** If the folder is gone, only the branch can be lost. If git does not know the folder, everything in it counts as lost. */
export async function findLoss(
  worktree: Worktree,
  repository: Repository,
  { mergedTip }: KnownMerge = {},
): Promise<WorktreeLoss> {
  const { path, branch, baseCommit } = worktree;
  const isKnown = await isLinkedWorktree(repository, path);
  const at = { cwd: isKnown ? path : repository.root };
  const tips = await resolveCommits(repository, [`refs/heads/${branch}`, ...(isKnown ? ["HEAD"] : [])], at.cwd);
  const kept = await resolveCommits(repository, [baseCommit, ...(mergedTip === undefined ? [] : [mergedTip])], at.cwd);
  const others = [`--exclude=${branch}`, "--branches", "--remotes", "--tags"];
  const [files, ignored, commits, submodules] = await Promise.all([
    isKnown ? listUncommitted(worktree, repository) : listContent(path),
    isKnown ? findIgnoredLoss(worktree, repository) : [],
    tips.length === 0 ? "0" : repository.git(["rev-list", "--count", ...tips, "--not", ...kept, ...others], at),
    isKnown ? listSubmodulesWithOwnCommits(repository, worktree) : [],
  ]);
  return { files, ignored, commits: Number(commits), submodules };
}

async function listUncommitted(worktree: Worktree, repository: Repository): Promise<readonly string[]> {
  const at = { cwd: worktree.path };
  const [lines, nested, hidden, setUp] = await Promise.all([
    readNames(repository, ["status", "--porcelain=v1", ...STATUS_FLAGS], at),
    listChangedGitlinks(repository, at),
    hiddenChanges(repository, worktree),
    listUnchangedSetUpFiles(worktree, repository),
  ]);
  const listed = lines.map((line) => line.slice(3)).filter((name) => !setUp.listed.has(name));
  const work = [...listed, ...nested, ...hidden.filter((name) => !setUp.hidden.has(name))];
  return [...new Set(work)].map(displayName);
}

async function listContent(path: string): Promise<readonly string[]> {
  const entries = await ifAbsent(readdir(path, { withFileTypes: true }), []);
  return entries.flatMap((entry) => (entry.name === ".git" && entry.isFile() ? [] : [entry.name]));
}

/** Resolves the refs that exist to commit ids. */
async function resolveCommits(
  repository: Repository,
  refs: readonly string[],
  cwd: string,
): Promise<readonly string[]> {
  const found = await Promise.all(
    refs.map((ref) => repository.gitTry(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { cwd })),
  );
  return found.flatMap(({ code, stdout }) => (code === 0 ? [stdout.trim()] : []));
}

export function isEmptyLoss({ files, ignored, commits, submodules }: WorktreeLoss): boolean {
  return files.length === 0 && ignored.length === 0 && commits === 0 && submodules.length === 0;
}

const MAX_NAMES = 10;

/** Joins the first ten names and adds how many more there are. */
export function joinFirstNames(files: readonly string[]): string {
  const more = files.length > MAX_NAMES ? ` and ${files.length - MAX_NAMES} more` : "";
  return `${files.slice(0, MAX_NAMES).join(", ")}${more}`;
}

/** The `worktree_unmerged` error that lists what would be lost. */
export function lossError(
  { id, branch, path }: Worktree,
  { files, ignored, commits, submodules }: WorktreeLoss,
): RookeryError {
  const what = [
    ...(commits === 0 ? [] : [`${commits} ${commits === 1 ? "commit" : "commits"} of ${branch} found nowhere else`]),
    ...(files.length === 0 ? [] : [`uncommitted files in ${path}: ${joinFirstNames(files)}`]),
    ...(ignored.length === 0 ? [] : [`ignored files in ${path} found nowhere else: ${joinFirstNames(ignored)}`]),
    ...(submodules.length === 0 ? [] : [`commits in the submodules ${submodules.join(", ")}`]),
  ];
  return new RookeryError(
    "worktree_unmerged",
    `removing ${id} would lose ${what.join(", and ")}; merge the task first, or discard its work: rookery task remove ${id} --force`,
  );
}

export function lockedWorktreeError({ id, path }: Worktree, why: string): RookeryError {
  return new RookeryError(
    "worktree_unmerged",
    `${path} is locked${why === "" ? "" : ` (${why})`}; unlock it: git worktree unlock '${path}', or remove it anyway: rookery task remove ${id} --force`,
  );
}
