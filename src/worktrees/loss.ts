/** What would be lost with a worktree: asked before it is removed. */
import { readdir } from "node:fs/promises";
import { RookeryError } from "../domain/index.ts";
import { ifAbsent } from "./absent.ts";
import { changedGitlinks } from "./gitlinks.ts";
import { hiddenChanges } from "./hidden.ts";
import { ignoredLoss } from "./ignored.ts";
import { isLinked } from "./linked.ts";
import { EVERYTHING } from "./look.ts";
import { commitsInSubmodules } from "./nested.ts";
import { displayName, namesFrom } from "./names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

export interface Loss {
  /** Not committed, relative to the root; without what git ignores. */
  readonly files: readonly string[];
  /** Ignored by git, and nowhere else. */
  readonly ignored: readonly string[];
  /** That no other branch, tag or branch of another's has. */
  readonly commits: number;
  /** Submodules with commits that are nowhere else. */
  readonly submodules: readonly string[];
}

export interface Merged {
  /** The head of the branch when it was merged in a way that does not show, by squash or rebase: not lost up to there. */
  readonly mergedTip?: string | undefined;
}

/** Where the folder is not there, only its branch can be lost; of one that git does not know, all that is in it. */
export async function lossOf(worktree: Worktree, repository: Repository, { mergedTip }: Merged = {}): Promise<Loss> {
  const { path, branch, baseCommit } = worktree;
  const isKnown = await isLinked(repository, path);
  const at = { cwd: isKnown ? path : repository.root };
  const tips = await tipsOf(repository, [`refs/heads/${branch}`, ...(isKnown ? ["HEAD"] : [])], at.cwd);
  const kept = await tipsOf(repository, [baseCommit, ...(mergedTip === undefined ? [] : [mergedTip])], at.cwd);
  const others = [`--exclude=${branch}`, "--branches", "--remotes", "--tags"];
  const [files, ignored, commits, submodules] = await Promise.all([
    isKnown ? notCommitted(repository, at) : contentOf(path),
    isKnown ? ignoredLoss(worktree, repository) : [],
    tips.length === 0 ? "0" : repository.git(["rev-list", "--count", ...tips, "--not", ...kept, ...others], at),
    isKnown ? commitsInSubmodules(repository, worktree) : [],
  ]);
  return { files, ignored, commits: Number(commits), submodules };
}

async function notCommitted(repository: Repository, at: { readonly cwd: string }): Promise<readonly string[]> {
  const [lines, nested, hidden] = await Promise.all([
    namesFrom(repository, ["status", "--porcelain=v1", ...EVERYTHING], at),
    changedGitlinks(repository, at),
    hiddenChanges(repository, { path: at.cwd }),
  ]);
  return [...new Set([...lines.map((line) => line.slice(3)), ...nested, ...hidden])].map(displayName);
}

async function contentOf(path: string): Promise<readonly string[]> {
  const entries = await ifAbsent(readdir(path, { withFileTypes: true }), []);
  return entries.flatMap((entry) => (entry.name === ".git" && entry.isFile() ? [] : [entry.name]));
}

/** The commits of those that there are. */
async function tipsOf(repository: Repository, refs: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = await Promise.all(
    refs.map((ref) => repository.gitTry(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { cwd })),
  );
  return found.flatMap(({ code, stdout }) => (code === 0 ? [stdout.trim()] : []));
}

export function isNothing({ files, ignored, commits, submodules }: Loss): boolean {
  return files.length === 0 && ignored.length === 0 && commits === 0 && submodules.length === 0;
}

const MOST_NAMED = 10;

/** The first ones, and how many more there are. */
export function firstOf(files: readonly string[]): string {
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : "";
  return `${files.slice(0, MOST_NAMED).join(", ")}${more}`;
}

export function unmerged({ id, branch, path }: Worktree, { files, ignored, commits, submodules }: Loss): RookeryError {
  const what = [
    ...(commits === 0 ? [] : [`${commits} ${commits === 1 ? "commit" : "commits"} of ${branch} that are nowhere else`]),
    ...(files.length === 0 ? [] : [`what is not committed in ${path}: ${firstOf(files)}`]),
    ...(ignored.length === 0 ? [] : [`what git ignores in ${path} and is nowhere else: ${firstOf(ignored)}`]),
    ...(submodules.length === 0 ? [] : [`commits in the submodules ${submodules.join(", ")}`]),
  ];
  return new RookeryError(
    "worktree_unmerged",
    `removing ${id} would lose ${what.join(", and ")}; merge it first, or give it up: rookery task remove ${id} --force`,
  );
}

export function locked({ id, path }: Worktree, why: string): RookeryError {
  return new RookeryError(
    "worktree_unmerged",
    `${path} is locked${why === "" ? "" : ` (${why})`}; unlock it: git worktree unlock '${path}', or: rookery task remove ${id} --force`,
  );
}
