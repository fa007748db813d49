/** Commits the changes that an agent left uncommitted, so they can be merged. */
import { RookeryError } from "../domain/index.ts";
import { listGitlinks } from "./gitlinks.ts";
import { STATUS_FLAGS, assertWorktreeExists, parseEmbeddedRepositories, parseUnmergedFiles } from "./status.ts";
import { toByteName, displayName, joinNames, readNames, splitNames, type ByteName } from "./byte-names.ts";
import type { Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

export interface CommitAllOptions {
  readonly message: string;
  /** Files and folders that stay uncommitted, such as files that the set-up copied. */
  readonly exclude?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Commits all changes except ignored files and nested repositories. Returns the commit id, or undefined if nothing changed.
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
  if (lines.length === 0) return undefined;
  const unmerged = parseUnmergedFiles(lines);
  if (unmerged.length > 0) throw mergeInProgress(worktree, unmerged);
  await repository.requireIdentity();
  // Git would record only the commit id of a nested repository, not its files.
  const embedded = parseEmbeddedRepositories(lines).map((path) => path.slice(0, -1));
  // Git would run `git status` in known nested repositories, with their own configuration.
  const known = (await listGitlinks(repository, at)).map(({ name }) => name);
  const left = [...(await removeIgnored(repository, exclude.map(toByteName), at)), ...embedded, ...known];
  const input = joinNames([":/", ...left.map((path) => `:(top,exclude,literal)${path}`)]);
  await repository.git(["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"], { ...at, input });
  if (known.length > 0) await repository.git(["update-index", "-z", "--stdin"], { ...at, input: joinNames(known) });
  const staged = ["diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--"];
  if ((await repository.gitTry(staged, at)).code === 0) return undefined;
  const settings = ["-c", "commit.gpgSign=false", "-c", "commit.verbose=false"];
  const how = ["--quiet", "--no-verify", "--cleanup=whitespace", "--file=-"];
  await repository.git([...settings, "commit", ...how], { ...at, input: message.replaceAll("\0", "") });
  return repository.git(["rev-parse", "HEAD"], at);
}

/** Removes ignored paths: git 2.39 fails for an ignored file even in an exclude pathspec. */
async function removeIgnored(
  repository: Repository,
  paths: readonly ByteName[],
  at: { readonly cwd: string; readonly signal?: AbortSignal | undefined },
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
