/** A repository of the user's: where it is, what is checked out, and one writer to it at a time. */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve as resolvePath, sep } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { didYouMean, raceAbort } from "../stdx/index.ts";
import { bareRepository, discoverRepository, gitFolderOf, refuseEmbedded, type FoundRepository } from "./discover.ts";
import { failureOf, fromSystem, isDiskFull, noRepository } from "./failure.ts";
import { WITHOUT_LFS, git, gitTry, type Env, type GitOptions, type GitResult, type RunOptions } from "./git.ts";
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
  git(args: readonly string[], options?: RepositoryRun): Promise<string>;
  /** As `gitTry`. */
  gitTry(args: readonly string[], options?: RepositoryRun): Promise<GitResult>;
  /** As `gitTry`, but without the marker of its owner: nobody who sweeps after a dead owner ends it. */
  unowned(args: readonly string[], options?: RepositoryRun, env?: Env): Promise<GitResult>;
  /** What is checked out in the main checkout. Rejects with `repository_empty` where nothing was committed on it yet. */
  head(): Promise<Resolved>;
  /** Rejects with `base_not_found`. */
  resolve(ref: string): Promise<Resolved>;
  /** Rejects with `identity_missing` where git would not know who commits. */
  identity(): Promise<void>;
}

export interface Resolved {
  readonly commit: string;
  /** Without `refs/heads/`; undefined for a tag, a commit, another's branch or a detached HEAD. */
  readonly branch?: string | undefined;
}

export interface RepositoryRun extends RunOptions {
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RepositoryOptions extends GitOptions {
  /** How long another process's work is waited for; two minutes if not said. */
  readonly exclusiveMs?: number | undefined;
}

const EXCLUSIVE_MS = 120_000;
/** Who commits is asked anew after this, not for each of many tasks. */
const KNOWN_MS = 10_000;
const MAX_NAMES = 1_000;

/** What a partial clone fetches missing objects by, if the repository is one. */
const FETCH_PROTOCOLS = "https:http:ssh:file";

/**
 * By any folder of it. Rejects with `repository_missing`, `repository_bare`, `repository_empty`, `cwd_missing`,
 * `git_missing`, and with `not_trusted` for one within another checkout whose own configuration names programs.
 */
export async function openRepository(cwd: string, options: RepositoryOptions): Promise<Repository> {
  const found = await discoverRepository(cwd);
  const { root, commonDir } = await placesOf(found, options);
  const programs = await programsOf(commonDir, root, options);
  if (found.within !== undefined && programs.drivers.length > 0) throw foreignPrograms(found, programs);
  const filters = (await isOnPath("git-lfs", options.env)) ? [] : WITHOUT_LFS;
  const { signal: _ofOpening, ...kept } = options;
  const policy: GitPolicy = {
    settings: programs.overrides,
    protocols: programs.isPartial && found.within === undefined ? FETCH_PROTOCOLS : undefined,
  };
  const run = async ({ cwd: at = root, signal, ...more }: RepositoryRun, args: readonly string[]) => {
    const place = more.gitDir === undefined ? await placeOf(at, { root, commonDir }) : {};
    return [at, [...filters, ...args], { ...kept, signal }, { ...policy, ...place, ...more }] as const;
  };
  let knownUntil = 0;
  const repository: Repository = {
    root,
    commonDir,
    options: kept,
    exclusive: (work, signal) =>
      exclusively({ commonDir, waitMs: options.exclusiveMs ?? EXCLUSIVE_MS, marker: options.marker }, work, signal),
    git: async (args, more = {}) => git(...(await run(more, args))),
    gitTry: async (args, more = {}) => gitTry(...(await run(more, args))),
    unowned: async (args, more = {}, env = {}) => {
      const [at, all, { env: own, ...rest }, policyOfRun] = await run(more, args);
      return gitTry(
        at,
        all,
        { ...rest, env: { ...own, ...env }, marker: "publishing", signal: undefined },
        policyOfRun,
      );
    },
    head: () => headOf(repository),
    resolve: (ref) => resolveRef(repository, ref),
    identity: async () => {
      if (performance.now() < knownUntil) return;
      await knowsWhoCommits(repository);
      knownUntil = performance.now() + KNOWN_MS;
    },
  };
  await hasCommits(repository);
  await sweepLocks(commonDir).catch(() => undefined); // where nothing can be written, nothing needs a lock
  return repository;
}

async function programsOf(gitDir: string, workTree: string, options: GitOptions): Promise<RepositoryPrograms> {
  return parsePrograms((await git(workTree, LIST_SETTINGS, options, { gitDir, workTree })) + "\n");
}

function foreignPrograms({ checkout, within }: FoundRepository, { drivers }: RepositoryPrograms): RookeryError {
  return new RookeryError(
    "not_trusted",
    `${checkout} is a repository within ${within ?? "another one"}, and its own configuration names programs that git ` +
      `would run (${drivers.slice(0, 5).join(", ")}); move it out of there, or set them in your own configuration: git config --global`,
  );
}

/** Only what this repository has made is a checkout of it: a `.git` that leads elsewhere is not followed. */
async function placeOf(
  cwd: string,
  { root, commonDir }: Pick<Repository, "root" | "commonDir">,
): Promise<Pick<RunOptions, "gitDir" | "workTree">> {
  if (cwd === root) return { gitDir: commonDir, workTree: root };
  const gitDir = await gitFolderOf(cwd);
  if (gitDir?.startsWith(commonDir + sep) === true) return { gitDir, workTree: cwd };
  throw new RookeryError("worktree_missing", `${cwd} is not a checkout of ${root} any more; keep what you need of it`);
}

async function placesOf(
  { checkout, gitDir }: FoundRepository,
  options: GitOptions,
): Promise<Pick<Repository, "root" | "commonDir">> {
  const args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const common = await git(checkout, args, options, { gitDir, workTree: checkout });
  const commonDir = await realpath(common);
  await refuseEmbedded(commonDir, checkout);
  const root = await mainCheckoutOf({ checkout, gitDir }, commonDir, options);
  return { root, commonDir };
}

/** The checkout itself, unless it is a linked worktree. One that is kept elsewhere must point back. */
async function mainCheckoutOf(
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
  if (of("bare") === "true") throw bareRepository(commonDir);
  const elsewhere = of("worktree");
  const named = elsewhere === undefined ? undefined : resolvePath(commonDir, elsewhere);
  const beside = basename(commonDir) === ".git" ? dirname(commonDir) : undefined;
  const root = named ?? (gitDir === commonDir ? checkout : beside);
  const real = root === undefined ? undefined : await realpath(root).catch(() => undefined);
  if (real !== undefined && (await gitFolderOf(real)) === commonDir) return real;
  throw noRepository(checkout);
}

function emptyRepository(root: string): RookeryError {
  return new RookeryError(
    "repository_empty",
    `${root} has no commit to start from; make one: git commit --allow-empty -m "Begin"`,
  );
}

/** A branch without a commit may be checked out although others have some: a base can be named then. */
async function hasCommits(repository: Repository): Promise<void> {
  const { code } = await repository.gitTry(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (code === 0) return;
  const any = await repository.git(["for-each-ref", "--count=1", "refs/heads", "refs/remotes"]);
  if (any === "") throw emptyRepository(repository.root);
}

async function headOf(repository: Repository): Promise<Resolved> {
  const found = (await readHead(repository)) ?? (await look(repository, "HEAD"));
  if (found === undefined) throw emptyRepository(repository.root);
  return found;
}

/** As files, where git has it in files: asking git would take a good part of the time that a worktree takes. */
async function readHead({ commonDir }: Repository): Promise<Resolved | undefined> {
  const textOf = (name: string) => readFile(join(commonDir, name), "utf8").catch(() => "");
  const [, branch] = /^ref: refs\/heads\/(.+)\n$/.exec(await textOf("HEAD")) ?? [];
  const [, commit] = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.exec(branch ? await textOf(`refs/heads/${branch}`) : "") ?? [];
  return commit === undefined ? undefined : { commit, branch };
}

async function resolveRef(repository: Repository, ref: string): Promise<Resolved> {
  const found = isHarmless(ref) ? await look(repository, ref) : undefined;
  if (found !== undefined) return found;
  const shown = JSON.stringify(ref.slice(0, 200).toWellFormed());
  const known = await repository.git(["for-each-ref", `--count=${MAX_NAMES}`, "--format=%(refname:short)"]);
  throw new RookeryError(
    "base_not_found",
    `${repository.root} has no branch, tag or commit ${shown}${didYouMean(ref, known.split("\n"))}; see: git branch --all`,
  );
}

/** Nothing that git would take for an option, a range or several. */
function isHarmless(ref: string): boolean {
  return ref !== "" && ref.length <= 1_000 && !/^[-^]|\.\.|[\0-\x20\x7f]/.test(ref);
}

async function look(repository: Repository, ref: string): Promise<Resolved | undefined> {
  const args = ["rev-parse", `${ref}^{commit}`, "--symbolic-full-name", ref];
  const result = await repository.gitTry(args);
  if (result.code !== 0) {
    if (isDiskFull(result.stderr)) throw await failureOf(repository.root, args, result);
    return undefined;
  }
  const [commit = "", name = ""] = result.stdout.split("\n");
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const branch = name.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : undefined;
  return { commit, branch };
}

/** Git would guess one from the machine's name otherwise, on some machines. */
async function knowsWhoCommits(repository: Repository): Promise<void> {
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

interface Exclusion {
  readonly commonDir: string;
  readonly waitMs: number;
  readonly marker: string;
}

async function exclusively<T>(
  exclusion: Exclusion,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { commonDir } = exclusion;
  const before = queues.get(commonDir) ?? Promise.resolve();
  const mine = before.then(() => underLock(exclusion, work, signal));
  const settled = mine.catch(() => undefined);
  queues.set(commonDir, settled);
  void settled.then(() => {
    if (queues.get(commonDir) === settled) queues.delete(commonDir);
  });
  await raceAbort(before, signal); // its turn comes all the same, and finds that it was given up
  return mine;
}

async function underLock<T>(
  { commonDir, waitMs, marker }: Exclusion,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const file = join(commonDir, "rookery.lock");
  const done = await withLock(file, waitMs, work, signal, marker).catch((error: unknown) => {
    throw fromSystem(error, commonDir);
  });
  if (done !== undefined) return done.result;
  throw new RookeryError(
    "repository_locked",
    `another rookery has worked on this repository for ${Math.round(waitMs / 1000)} seconds, as ${file} says; wait for it, or end it`,
  );
}
