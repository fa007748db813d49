/** A repository of the user's: where it is, what is checked out, and one writer to it at a time. */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve as resolvePath, sep } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { didYouMean, raceAbort } from "../stdx/index.ts";
import { bareRepositoryError, discoverRepository, resolveGitDir, rejectEmbedded, type FoundRepository } from "./discover.ts";
import { toGitError, toSystemError, isDiskFull, repositoryMissing } from "./failure.ts";
import { DISABLE_LFS, git, gitTry, type Env, type GitOptions, type GitResult, type GitRunOptions } from "./git.ts";
import { sweepLocks, withLock } from "./lock.ts";
import { isOnPath } from "./path.ts";
import { LIST_SETTINGS, parsePrograms, type GitPolicy, type RepositoryPrograms } from "./untrusted.ts";

export interface Repository {
  /** Of the main checkout, also when a linked worktree was given; with symbolic links resolved. */
  readonly root: string;
  /** Where git keeps what all worktrees share. */
  readonly commonDir: string;
  readonly options: GitOptions;
  /**
   * Runs what writes while nobody else does: neither in this process nor, through a file, in another. Not to be called
   * from within itself. Rejects with `repository_locked` where it is not to be had in two minutes.
   */
  exclusive<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** In the root if not said otherwise; as `git`. */
  git(args: readonly string[], options?: RepositoryRunOptions): Promise<string>;
  /** As `gitTry`. */
  gitTry(args: readonly string[], options?: RepositoryRunOptions): Promise<GitResult>;
  /** As `gitTry`, but without the marker of its owner: nobody who sweeps after a dead owner ends it. */
  gitUnowned(args: readonly string[], options?: RepositoryRunOptions, env?: Env): Promise<GitResult>;
  /** What is checked out in the main checkout. Rejects with `repository_empty` where nothing was committed on it yet. */
  head(): Promise<ResolvedRef>;
  /** Rejects with `base_not_found`. */
  resolve(ref: string): Promise<ResolvedRef>;
  /** Rejects with `identity_missing` where git would not know who commits. */
  requireIdentity(): Promise<void>;
}

export interface ResolvedRef {
  readonly commit: string;
  /** Without `refs/heads/`; undefined for a tag, a commit, another's branch or a detached HEAD. */
  readonly branch?: string | undefined;
}

export interface RepositoryRunOptions extends GitRunOptions {
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RepositoryOptions extends GitOptions {
  /** How long another process's work is waited for; two minutes if not said. */
  readonly exclusiveMs?: number | undefined;
}

const EXCLUSIVE_MS = 120_000;
/** Who commits is asked anew after this, not for each of many tasks. */
const IDENTITY_CACHE_MS = 10_000;
const MAX_NAMES = 1_000;

/** What a partial clone fetches missing objects by, if the repository is one. */
const FETCH_PROTOCOLS = "https:http:ssh:file";

/**
 * By any folder of it. Rejects with `repository_missing`, `repository_bare`, `repository_empty`, `cwd_missing`,
 * `git_missing`, and with `not_trusted` for one within another checkout whose own configuration names programs.
 */
export async function openRepository(cwd: string, options: RepositoryOptions): Promise<Repository> {
  const found = await discoverRepository(cwd);
  const { root, commonDir } = await locateRepository(found, options);
  const programs = await readPrograms(commonDir, root, options);
  if (found.enclosing !== undefined && programs.drivers.length > 0) throw nestedProgramsError(found, programs);
  const filters = (await isOnPath("git-lfs", options.env)) ? [] : DISABLE_LFS;
  const { signal: _ofOpening, ...kept } = options;
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
  await sweepLocks(commonDir).catch(() => undefined); // where nothing can be written, nothing needs a lock
  return repository;
}

async function readPrograms(gitDir: string, workTree: string, options: GitOptions): Promise<RepositoryPrograms> {
  return parsePrograms((await git(workTree, LIST_SETTINGS, options, { gitDir, workTree })) + "\n");
}

function nestedProgramsError({ checkout, enclosing }: FoundRepository, { drivers }: RepositoryPrograms): RookeryError {
  return new RookeryError(
    "not_trusted",
    `${checkout} is a repository within ${enclosing ?? "another one"}, and its own configuration names programs that git ` +
      `would run (${drivers.slice(0, 5).join(", ")}); move it out of there, or set them in your own configuration: git config --global`,
  );
}

/** Only what this repository has made is a checkout of it: a `.git` that leads elsewhere is not followed. */
async function locateCheckout(
  cwd: string,
  { root, commonDir }: Pick<Repository, "root" | "commonDir">,
): Promise<Pick<GitRunOptions, "gitDir" | "workTree">> {
  if (cwd === root) return { gitDir: commonDir, workTree: root };
  const gitDir = await resolveGitDir(cwd);
  if (gitDir?.startsWith(commonDir + sep) === true) return { gitDir, workTree: cwd };
  throw new RookeryError("worktree_missing", `${cwd} is not a checkout of ${root} any more; keep what you need of it`);
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

/** The checkout itself, unless it is a linked worktree. One that is kept elsewhere must point back. */
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
    `${root} has no commit to start from; make one: git commit --allow-empty -m "Begin"`,
  );
}

/** A branch without a commit may be checked out although others have some: a base can be named then. */
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

/** As files, where git has it in files: asking git would take a good part of the time that a worktree takes. */
async function readHeadFiles({ commonDir }: Repository): Promise<ResolvedRef | undefined> {
  const textOf = (name: string) => readFile(join(commonDir, name), "utf8").catch(() => "");
  const [, branch] = /^ref: refs\/heads\/(.+)\n$/.exec(await textOf("HEAD")) ?? [];
  const [, commit] = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.exec(branch ? await textOf(`refs/heads/${branch}`) : "") ?? [];
  return commit === undefined ? undefined : { commit, branch };
}

async function resolveRef(repository: Repository, ref: string): Promise<ResolvedRef> {
  const found = isSafeRef(ref) ? await lookUpRef(repository, ref) : undefined;
  if (found !== undefined) return found;
  const shown = JSON.stringify(ref.slice(0, 200).toWellFormed());
  const known = await repository.git(["for-each-ref", `--count=${MAX_NAMES}`, "--format=%(refname:short)"]);
  throw new RookeryError(
    "base_not_found",
    `${repository.root} has no branch, tag or commit ${shown}${didYouMean(ref, known.split("\n"))}; see: git branch --all`,
  );
}

/** Nothing that git would take for an option, a range or several. */
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

/** Git would guess one from the machine's name otherwise, on some machines. */
async function assertIdentity(repository: Repository): Promise<void> {
  const asked = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((who) =>
    repository.gitTry(["-c", "user.useConfigOnly=true", "var", who]),
  );
  if ((await Promise.all(asked)).every(({ code }) => code === 0)) return;
  throw new RookeryError(
    "identity_missing",
    'git does not know who commits; tell it: git config --global user.name "Your Name" && git config --global user.email you@example.com',
  );
}

/** By the folder that is shared: several of one process may have the same repository open. */
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
  await raceAbort(before, signal); // its turn comes all the same, and finds that it was given up
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
    `another rookery has worked on this repository for ${Math.round(waitMs / 1000)} seconds, as ${file} says; wait for it, or end it`,
  );
}
