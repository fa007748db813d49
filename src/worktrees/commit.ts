/** Commits the changes that an agent left uncommitted, so they can be merged. */
import { RookeryError } from "../domain/index.ts";
import { listGitlinks } from "./gitlinks.ts";
import { assertWorktreeExists, parseEmbeddedRepositories, parseUnmergedFiles } from "./status.ts";
import { STATUS_FLAGS } from "./status-entry.ts";
import { toByteName, displayName, joinNames, readNames, splitNames, type ByteName } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository, RepositoryRunOptions } from "./repository.ts";
import { listUnchangedSetUpFiles } from "./set-up-files.ts";

export interface CommitAllOptions {
  readonly message: string;
  /** Files and folders that stay uncommitted, such as files that the setup copied. */
  readonly exclude?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Commits all changes except ignored files, nested repositories and files that are as the setup left them. Returns the
 * commit id, or undefined if nothing changed.
 *
 * Runs no hooks and signs nothing, because nobody can answer a prompt or fix what a hook reports. Rejects with
 * `identity_missing` or `worktree_missing`, and with `merge_conflict` if the worktree has unresolved conflicts.
 */
export async function commitAll(
  worktree: Worktree,
  repository: Repository,
  { message, exclude = [], signal }: CommitAllOptions,
): Promise<string | undefined> {
  await assertWorktreeExists(worktree, repository);
  const at = { cwd: worktree.path, signal };
  const lines = await readNames(repository, ["status", "--porcelain=v1", ...STATUS_FLAGS], at);
  const { listed: setUp } = await listUnchangedSetUpFiles(worktree, repository, { signal });
  if (lines.every((line) => setUp.has(line.slice(3)))) return undefined;
  const unmerged = parseUnmergedFiles(lines);
  if (unmerged.length > 0) throw mergeInProgress(worktree, unmerged);
  await repository.requireIdentity();
  // Git would record only the commit id of a nested repository, not its files.
  const embedded = parseEmbeddedRepositories(lines).map((path) => path.slice(0, -1));
  // Git would run `git status` in known nested repositories, with their own configuration.
  const links = (await listGitlinks(repository, at)).map(({ name }) => name);
  const known = links.filter((name) => !setUp.has(name));
  const excluded = await removeIgnored(repository, exclude.map(toByteName), at);
  const left = new Set([...excluded, ...embedded, ...links, ...setUp.keys()]);
  const staged = [...setUp.values()].filter(({ isStaged }) => isStaged).map(({ path }) => path);
  await unstage(repository, staged, at);
  const input = joinNames([":/", ...[...left].map((path) => `:(top,exclude,literal)${path}`)]);
  await repository.git(["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"], { ...at, input });
  if (known.length > 0) await repository.git(["update-index", "-z", "--stdin"], { ...at, input: joinNames(known) });
  const compare = ["diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--"];
  if ((await repository.gitTry(compare, at)).code === 0) return undefined;
  const settings = ["-c", "commit.gpgSign=false", "-c", "commit.verbose=false"];
  const how = ["--quiet", "--no-verify", "--cleanup=whitespace", "--file=-"];
  await repository.git([...settings, "commit", ...how], { ...at, input: message.replaceAll("\0", "") });
  return repository.git(["rev-parse", "HEAD"], at);
}

/** Sets these paths of the index to their version in HEAD. Changes no file. */
export async function unstage(
  repository: Repository,
  paths: readonly ByteName[],
  run: RepositoryRunOptions,
): Promise<void> {
  if (paths.length === 0) return;
  const reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
  await repository.git(["--literal-pathspecs", ...reset], { ...run, input: joinNames(paths) });
}

/** Removes ignored paths: git 2.39 fails for an ignored file even in an exclude pathspec. */
async function removeIgnored(
  repository: Repository,
  paths: readonly ByteName[],
  at: RepositoryRunOptions,
): Promise<readonly ByteName[]> {
  if (paths.length === 0) return [];
  const { bytes } = await repository.gitTry(["check-ignore", "-z", "--stdin"], { ...at, input: joinNames(paths) });
  const ignored = new Set(splitNames(bytes));
  return paths.filter((path) => !ignored.has(path));
}

function mergeInProgress({ path }: Worktree, files: readonly ByteName[]): RookeryError {
  return new RookeryError(
    "merge_conflict",
    `a merge is in progress in ${path}, with conflicts in ${files.slice(0, 10).map(displayName).join(", ")}; resolve or abort it there`,
  );
}
