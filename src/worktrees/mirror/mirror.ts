/**
 * The mirror of a remote on this host, and the repository for its worktrees:
 *
 *     ROOT/mirrors/NAME/mirror.git        bare: the branches and tags of the remote, as they were last fetched
 *     ROOT/repositories/NAME/.git         the repository of the worktrees; borrows the objects of the mirror
 *     ROOT/repositories/NAME/             a checkout of the default branch, for configuration and trust
 *     ROOT/repositories/NAME/.rookery/    worktrees of tasks
 *
 * The mirror is not in the checkout, because a remote chooses the names of the files there. A corrupt mirror can be
 * replaced, because worktrees and their commits are not in it.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { RookeryError, isRookeryError, messageOf } from "../../domain/index.ts";
import { withLock } from "../lock.ts";
import type { Repository, RepositoryOptions } from "../repository.ts";
import { openMirrorCheckout, updateMirrorCheckout } from "./checkout.ts";
import { copyMirrorRefs, readMirrorRefs, setDefaultBranch } from "./refs.ts";
import { refuseRemoteInCheckout } from "./path-remote.ts";
import { mirrorName, parseRemoteUrl } from "./remote-url.ts";
import { removeRefLocks } from "./ref-locks.ts";
import {
  fetchRefs,
  initMirror,
  isCorruptionMessage,
  listRemoteRefs,
  type GitTransport,
  type NetworkOptions,
} from "./transport.ts";

export interface MirrorOptions {
  /** The folder of this host for repositories, such as the home of Rookery. */
  readonly root: string;
  readonly url: string;
  readonly git: RepositoryOptions;
  /** Called if something was repaired or could not be updated. */
  onNotice(message: string): void;
  /** Time limit of a fetch in milliseconds. Default: 2 minutes, and 30 minutes for the first one. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Mirror {
  /** Without credentials. */
  readonly url: string;
  /** The repository of the worktrees. */
  readonly repository: Repository;
  readonly transport: GitTransport;
  /** The branch that HEAD of the remote names. */
  readonly defaultBranch: string;
  /**
   * Fetches all branches and tags. Replaces a corrupt mirror. Rejects with `remote_unreachable`, and then the state of the
   * last fetch is still there.
   */
  fetch(options?: NetworkOptions): Promise<void>;
  /** Fetches one branch and sets the local branch to it, if the remote has it and no worktree uses it. */
  fetchBranch(branch: string, options?: NetworkOptions): Promise<void>;
  /**
   * Call it with the error of a git command in the repository. If the mirror is the cause, fetches everything into a
   * new mirror, moves the old one aside, and resolves with true; the command can then be retried.
   */
  repair(error: unknown): Promise<boolean>;
}

const FIRST_TIMEOUT_MS = 30 * 60_000;
const LOCK_MS = 35 * 60_000;
/** Fetches that are younger are not repeated: many tasks of a repository may start at once. */
const FRESH_MS = 2_000;
const ALL_REFS = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

/**
 * Opens the mirror of a remote, and creates it if it does not exist. Fetches only if it creates or repairs the mirror.
 * Rejects with `input_invalid`, `remote_unreachable`, `repository_bare`, `repository_empty`, `disk_full` or
 * `repository_locked`.
 */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const url = parseRemoteUrl(options.url);
  await refuseRemoteInCheckout(url);
  const name = mirrorName(url);
  const folder = join(options.root, "repositories", name);
  const mirrorFolder = join(options.root, "mirrors", name);
  const gitDir = join(mirrorFolder, "mirror.git");
  const transport: GitTransport = { url, gitDir, objects: join(folder, ".git", "objects"), options: options.git };
  for (const each of [folder, mirrorFolder]) await mkdir(each, { recursive: true, mode: 0o700 });
  const locked = <T>(work: () => Promise<T>, signal?: AbortSignal) => lockMirror(mirrorFolder, options, work, signal);
  await locked(async () => {
    const problem = existsSync(gitDir) ? await findCorruption(transport) : "";
    if (problem !== undefined) await replaceMirror(transport, options, problem);
  }, options.signal);
  const { defaultBranch } = await readMirrorRefs(transport);
  const repository = await locked(
    () => openMirrorCheckout({ folder, defaultBranch, transport, git: options.git }),
    options.signal,
  );
  let freshUntil = 0;
  const sync = async (signal?: AbortSignal): Promise<void> => {
    await copyMirrorRefs(repository, transport, { signal });
    const problem = await updateMirrorCheckout(repository, defaultBranch, signal);
    if (problem !== undefined) options.onNotice(problem);
  };
  const replaceIfCorrupt = async (error: unknown): Promise<boolean> => {
    const reason = isCorruption(error) ? messageOf(error) : await findCorruption(transport);
    if (reason !== undefined) await replaceMirror(transport, options, reason);
    return reason !== undefined;
  };
  const limits = (more: NetworkOptions): NetworkOptions => ({ timeoutMs: options.timeoutMs, ...more });
  const fetchOrReplace = async (refspecs: readonly string[], fetching: Parameters<typeof fetchRefs>[2]) => {
    const fetch = () => fetchRefs(transport, refspecs, fetching);
    await fetch()
      .catch(async (error: unknown) => {
        if (!isRookeryError(error, "repository_locked")) throw error;
        await removeRefLocks(gitDir); // nobody else changes the refs, because we have the lock of the mirror
        await fetch();
      })
      .catch(async (error: unknown) => {
        if (!(await replaceIfCorrupt(error))) throw error;
      });
  };
  const fetchAll = (more: NetworkOptions) => fetchOrReplace(ALL_REFS, { ...limits(more), prune: true });
  const mirror: Mirror = {
    url,
    repository,
    transport,
    defaultBranch,
    fetch: (more = {}) =>
      locked(async () => {
        if (performance.now() < freshUntil) return;
        await fetchAll(more);
        await sync(more.signal);
        freshUntil = performance.now() + FRESH_MS;
      }, more.signal),
    fetchBranch: (branch, more = {}) =>
      locked(async () => {
        const ref = `refs/heads/${branch}`;
        await fetchOrReplace([`+${ref}:${ref}`], limits(more)).catch(async (error: unknown) => {
          if (isRookeryError(error, "base_not_found")) return; // the remote does not have the branch
          if (!isRookeryError(error, "git_failed")) throw error;
          await fetchAll(more); // removes a deleted branch `a` that is in the way of `a/b`
        });
        await copyMirrorRefs(repository, transport, { branch, signal: more.signal });
      }, more.signal),
    repair: (error) =>
      locked(async () => {
        if (!(await replaceIfCorrupt(error))) return false;
        await sync();
        return true;
      }),
  };
  return mirror;
}

/** True if the error of a git command means that a repository on this disk is damaged. */
function isCorruption(error: unknown): boolean {
  return isRookeryError(error, "git_failed") && isCorruptionMessage(error.message);
}

/** Returns what is wrong with the mirror. Reads only its refs and the objects that they name. */
async function findCorruption(transport: GitTransport): Promise<string | undefined> {
  try {
    const { refs } = await readMirrorRefs(transport);
    return refs.size === 0 ? "it has no branches" : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Fetches into a new folder first: if the remote is unreachable, the old mirror stays. */
async function replaceMirror(transport: GitTransport, options: MirrorOptions, reason: string): Promise<void> {
  const { url, gitDir } = transport;
  const fresh = { ...transport, gitDir: `${gitDir}.new` };
  await rm(fresh.gitDir, { recursive: true, force: true });
  await initMirror(fresh.gitDir, options.git);
  const limits = { timeoutMs: options.timeoutMs ?? FIRST_TIMEOUT_MS, signal: options.signal };
  const head = (await listRemoteRefs(fresh, ["HEAD"], limits)).get("symref HEAD");
  await fetchRefs(fresh, ALL_REFS, limits);
  await setDefaultBranch(fresh, head);
  if (existsSync(gitDir)) {
    const aside = await moveAside(gitDir);
    options.onNotice(`the mirror of ${url} was corrupt and was fetched again (${reason}); the old one is ${aside}`);
  }
  await rename(fresh.gitDir, gitDir);
}

/** Keeps only the newest corrupt mirror, for inspection. */
async function moveAside(gitDir: string): Promise<string> {
  const folder = join(gitDir, "..");
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith("mirror.git.corrupt-"))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
  const aside = `${gitDir}.corrupt-${Date.now()}`;
  await rename(gitDir, aside);
  return aside;
}

async function lockMirror<T>(
  folder: string,
  { git }: MirrorOptions,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const file = join(folder, "rookery-mirror.lock");
  const done = await withLock(file, git.exclusiveMs ?? LOCK_MS, work, signal, git.marker);
  if (done !== undefined) return done.result;
  throw new RookeryError(
    "repository_locked",
    `another rookery process has held ${file} for too long; wait until it ends, or stop it`,
  );
}
