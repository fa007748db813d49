/** Opens a git repository of the user: finds its folders, runs git in it, and allows one writer at a time. */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve as resolvePath, sep } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { didYouMean, raceAbort, type EnvironmentVariables } from "../stdx/index.ts";
import {
  bareRepositoryError,
  discoverRepository,
  resolveGitDir,
  rejectEmbedded,
  type FoundRepository,
} from "./discover.ts";
import { toGitError, toSystemError, isDiskFull, repositoryMissing } from "./failure.ts";
import { DISABLE_LFS, git, gitTry, type GitOptions, type GitRunOptions } from "./git.ts";
import type { GitResult } from "./git-result.ts";
import { sweepLocks, withLock } from "./lock.ts";
import { isOnPath } from "./path.ts";
import { LIST_SETTINGS, parsePrograms, type GitPolicy, type RepositoryPrograms } from "./untrusted.ts";

export interface Repository {
  /** Root of the main checkout, even if it was opened from a linked worktree. Symbolic links are resolved. */
  readonly root: string;
  /** Git folder that all worktrees share. */
  readonly commonDir: string;
  readonly options: GitOptions;
  /**
   * Runs `work` while it holds the lock of this repository, which excludes other writers in this process and in others.
   * Not reentrant. Rejects with `repository_locked` if the lock is not free within `exclusiveMs`.
   */
  exclusive<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Calls `git` for this repository. Default working directory: the root. */
  git(args: readonly string[], options?: RepositoryRunOptions): Promise<string>;
  /** Calls `gitTry` for this repository. */
  gitTry(args: readonly string[], options?: RepositoryRunOptions): Promise<GitResult>;
  /** Calls `gitTry` without the owner's marker, so the cleanup after a dead owner does not kill it. */
  gitUnowned(args: readonly string[], options?: RepositoryRunOptions, env?: EnvironmentVariables): Promise<GitResult>;
  /** The commit that is checked out in the main checkout. Rejects with `repository_empty` if its branch has no commit. */
  head(): Promise<ResolvedRef>;
  /** Resolves a branch, tag or commit. Rejects with `base_not_found`. */
  resolve(ref: string): Promise<ResolvedRef>;
  /** Rejects with `identity_missing` if git has no name or email for commits. */
  requireIdentity(): Promise<void>;
}

export interface ResolvedRef {
  readonly commit: string;
  /** Without `refs/heads/`. Undefined for a tag, a commit, a remote branch or a detached HEAD. */
  readonly branch?: string | undefined;
}

export interface RepositoryRunOptions extends GitRunOptions {
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RepositoryOptions extends GitOptions {
  /** How long `exclusive` waits for another process, in milliseconds. Default: 2 minutes. */
  readonly exclusiveMs?: number | undefined;
}

const EXCLUSIVE_MS = 120_000;
/** How long a successful identity check is reused. */
const IDENTITY_CACHE_MS = 10_000;
const MAX_NAMES = 1_000;

/** Protocols with which git may fetch the missing objects of a partial clone. */
const FETCH_PROTOCOLS = "https:http:ssh:file";

/**
 * Opens the repository that contains `cwd`. Rejects with `repository_missing`, `repository_bare`, `repository_empty`,
 * `cwd_missing` or `git_missing`, and with `not_trusted` if it lies inside another checkout and its configuration names
 * programs.
 */
export async function openRepository(cwd: string, options: RepositoryOptions): Promise<Repository> {
  const found = await discoverRepository(cwd);
  const { root, commonDir } = await locateRepository(found, options);
  const programs = await readPrograms(commonDir, root, options);
  if (found.enclosing !== undefined && programs.drivers.length > 0) throw nestedProgramsError(found, programs);
  const filters = (await isOnPath("git-lfs", options.env)) ? [] : DISABLE_LFS;
  const { signal: _openSignal, ...kept } = options;
  const policy: GitPolicy = {
    settings: programs.overrides,
    protocols: programs.isPartial && found.enclosing === undefined ? FETCH_PROTOCOLS : undefined,
  };
  const run = async ({ cwd: at = root, signal, ...more }: RepositoryRunOptions, args: readonly string[]) => {
    const place = more.gitDir === undefined ? await locateCheckout(at, { root, commonDir }) : {};
    return [at, [...filters, ...args], { ...kept, signal }, { ...policy, ...place, ...more }] as const;
  };
  let knownUntil = 0;
  const repository: Repository = {
    root,
    commonDir,
    options: kept,
    exclusive: (work, signal) =>
      runExclusive({ commonDir, waitMs: options.exclusiveMs ?? EXCLUSIVE_MS, marker: options.marker }, work, signal),
    git: async (args, more = {}) => git(...(await run(more, args))),
    gitTry: async (args, more = {}) => gitTry(...(await run(more, args))),
    gitUnowned: async (args, more = {}, env = {}) => {
      const [at, all, { env: own, ...rest }, policyOfRun] = await run(more, args);
      return gitTry(
        at,
        all,
        { ...rest, env: { ...own, ...env }, marker: "publishing", signal: undefined },
        policyOfRun,
      );
    },
    head: () => resolveHead(repository),
    resolve: (ref) => resolveRef(repository, ref),
    requireIdentity: async () => {
      if (performance.now() < knownUntil) return;
      await assertIdentity(repository);
      knownUntil = performance.now() + IDENTITY_CACHE_MS;
    },
  };
  await assertHasCommits(repository);
  await sweepLocks(commonDir).catch(() => undefined); // a read-only repository has no locks to sweep
  return repository;
}

async function readPrograms(gitDir: string, workTree: string, options: GitOptions): Promise<RepositoryPrograms> {
  return parsePrograms((await git(workTree, LIST_SETTINGS, options, { gitDir, workTree })) + "\n");
}

function nestedProgramsError({ checkout, enclosing }: FoundRepository, { drivers }: RepositoryPrograms): RookeryError {
  return new RookeryError(
    "not_trusted",
    `${checkout} is a repository inside ${enclosing ?? "another one"}, and its configuration names programs that git ` +
      `would run (${drivers.slice(0, 5).join(", ")}); move it elsewhere, or set them in your own configuration: git config --global`,
  );
}

/** Rejects with `worktree_missing` if the `.git` of the folder does not point into this repository. */
async function locateCheckout(
  cwd: string,
  { root, commonDir }: Pick<Repository, "root" | "commonDir">,
): Promise<Pick<GitRunOptions, "gitDir" | "workTree">> {
  if (cwd === root) return { gitDir: commonDir, workTree: root };
  const gitDir = await resolveGitDir(cwd);
  if (gitDir?.startsWith(commonDir + sep) === true) return { gitDir, workTree: cwd };
  throw new RookeryError("worktree_missing", `${cwd} is no longer a checkout of ${root}; copy what you need from it`);
}

async function locateRepository(
  { checkout, gitDir }: FoundRepository,
  options: GitOptions,
): Promise<Pick<Repository, "root" | "commonDir">> {
  const args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const common = await git(checkout, args, options, { gitDir, workTree: checkout });
  const commonDir = await realpath(common);
  await rejectEmbedded(commonDir, checkout);
  const root = await findMainCheckout({ checkout, gitDir }, commonDir, options);
  return { root, commonDir };
}

/** Finds the main checkout for a checkout, which may be a linked worktree. The main checkout must point back to `commonDir`. */
async function findMainCheckout(
  { checkout, gitDir }: FoundRepository,
  commonDir: string,
  options: GitOptions,
): Promise<string> {
  const settings = ["config", "--null", "--get-regexp", "^core\\.(bare|worktree)$"];
  const { stdout } = await gitTry(checkout, settings, options, { gitDir: commonDir, workTree: checkout });
  const of = (name: string): string | undefined =>
    stdout
      .split("\0")
      .find((line) => line.startsWith(`core.${name}\n`))
      ?.slice(`core.${name}\n`.length);
  if (of("bare") === "true") throw bareRepositoryError(commonDir);
  const elsewhere = of("worktree");
  const named = elsewhere === undefined ? undefined : resolvePath(commonDir, elsewhere);
  const beside = basename(commonDir) === ".git" ? dirname(commonDir) : undefined;
  const root = named ?? (gitDir === commonDir ? checkout : beside);
  const real = root === undefined ? undefined : await realpath(root).catch(() => undefined);
  if (real !== undefined && (await resolveGitDir(real)) === commonDir) return real;
  throw repositoryMissing(checkout);
}

function emptyRepositoryError(root: string): RookeryError {
  return new RookeryError(
    "repository_empty",
    `${root} has no commits; create one: git commit --allow-empty -m "Initial commit"`,
  );
}

/** Passes if any branch has a commit, even if the checked-out branch has none: the caller can then name a base. */
async function assertHasCommits(repository: Repository): Promise<void> {
  const { code } = await repository.gitTry(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (code === 0) return;
  const any = await repository.git(["for-each-ref", "--count=1", "refs/heads", "refs/remotes"]);
  if (any === "") throw emptyRepositoryError(repository.root);
}

async function resolveHead(repository: Repository): Promise<ResolvedRef> {
  const found = (await readHeadFiles(repository)) ?? (await lookUpRef(repository, "HEAD"));
  if (found === undefined) throw emptyRepositoryError(repository.root);
  return found;
}

/** Reads HEAD and its branch as files. Running git would take a large part of the time to create a worktree. */
async function readHeadFiles({ commonDir }: Repository): Promise<ResolvedRef | undefined> {
  const readGitFile = (name: string) => readFile(join(commonDir, name), "utf8").catch(() => "");
  const [, branch] = /^ref: refs\/heads\/(.+)\n$/.exec(await readGitFile("HEAD")) ?? [];
  const [, commit] =
    /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.exec(branch ? await readGitFile(`refs/heads/${branch}`) : "") ?? [];
  return commit === undefined ? undefined : { commit, branch };
}

async function resolveRef(repository: Repository, ref: string): Promise<ResolvedRef> {
  const found = isSafeRef(ref) ? await lookUpRef(repository, ref) : undefined;
  if (found !== undefined) return found;
  const quotedRef = JSON.stringify(ref.slice(0, 200).toWellFormed());
  const known = await repository.git(["for-each-ref", `--count=${MAX_NAMES}`, "--format=%(refname:short)"]);
  throw new RookeryError(
    "base_not_found",
    `${repository.root} has no branch, tag or commit ${quotedRef}${didYouMean(ref, known.split("\n"))}; list the branches: git branch --all`,
  );
}

/** False for text that git would parse as an option, a range or several revisions. */
function isSafeRef(ref: string): boolean {
  return ref !== "" && ref.length <= 1_000 && !/^[-^]|\.\.|[\0-\x20\x7f]/.test(ref);
}

async function lookUpRef(repository: Repository, ref: string): Promise<ResolvedRef | undefined> {
  const args = ["rev-parse", `${ref}^{commit}`, "--symbolic-full-name", ref];
  const result = await repository.gitTry(args);
  if (result.code !== 0) {
    if (isDiskFull(result.stderr)) throw await toGitError(repository.root, args, result);
    return undefined;
  }
  const [commit = "", name = ""] = result.stdout.split("\n");
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const branch = name.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : undefined;
  return { commit, branch };
}

/** Sets `user.useConfigOnly`, because git otherwise guesses an identity from the host name on some machines. */
async function assertIdentity(repository: Repository): Promise<void> {
  const checks = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((name) =>
    repository.gitTry(["-c", "user.useConfigOnly=true", "var", name]),
  );
  if ((await Promise.all(checks)).every(({ code }) => code === 0)) return;
  throw new RookeryError(
    "identity_missing",
    'git has no name and email for commits; set them: git config --global user.name "Your Name" && git config --global user.email you@example.com',
  );
}

/** The last queued work per common git folder. One process may open the same repository several times. */
const queues = new Map<string, Promise<unknown>>();

interface ExclusiveOptions {
  readonly commonDir: string;
  readonly waitMs: number;
  readonly marker: string;
}

async function runExclusive<T>(
  exclusion: ExclusiveOptions,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { commonDir } = exclusion;
  const before = queues.get(commonDir) ?? Promise.resolve();
  const mine = before.then(() => runUnderLock(exclusion, work, signal));
  const settled = mine.catch(() => undefined);
  queues.set(commonDir, settled);
  void settled.then(() => {
    if (queues.get(commonDir) === settled) queues.delete(commonDir);
  });
  await raceAbort(before, signal); // after an abort, the queued work still runs and sees the aborted signal
  return mine;
}

async function runUnderLock<T>(
  { commonDir, waitMs, marker }: ExclusiveOptions,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const file = join(commonDir, "rookery.lock");
  const done = await withLock(file, waitMs, work, signal, marker).catch((error: unknown) => {
    throw toSystemError(error, commonDir);
  });
  if (done !== undefined) return done.result;
  throw new RookeryError(
    "repository_locked",
    `another rookery process has held ${file} for ${Math.round(waitMs / 1000)} seconds; wait for it to finish, or stop it`,
  );
}
