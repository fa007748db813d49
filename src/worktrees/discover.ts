/** Finds the repository of a folder without running git. Rejects a repository that consists of files of a checkout. */
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { repositoryMissing } from "./failure.ts";

export interface FoundRepository {
  /** The folder that contains `.git`. Symbolic links are resolved. */
  readonly checkout: string;
  /** The git folder: `.git`, or the folder that a `.git` file names. */
  readonly gitDir: string;
  /** The checkout that contains this one, unless this one is a worktree or submodule of it. */
  readonly enclosing?: string | undefined;
}

/** Exceeds the longest possible path. */
const MAX_POINTER_BYTES = 16 * 1024;

/**
 * Searches upward for the nearest folder with a `.git`. Rejects with `repository_missing` or `cwd_missing`, and with
 * `repository_bare` for a bare repository, including one that consists of files of a checkout.
 */
export async function discoverRepository(cwd: string): Promise<FoundRepository> {
  const start = await realpath(cwd).catch(() => undefined);
  if (start === undefined || !(await isFolder(start))) {
    throw new RookeryError("cwd_missing", `${cwd} is not a folder, so git cannot run there`);
  }
  const checkout = await findCheckoutAbove(leaveGitFolder(start), cwd);
  if (checkout === undefined) throw repositoryMissing(cwd);
  const gitDir = await resolveGitDir(checkout);
  if (gitDir === undefined) throw repositoryMissing(cwd);
  await rejectEmbedded(gitDir, cwd);
  const within = await findCheckoutAbove(dirname(checkout), cwd, "any").catch(() => undefined);
  const outer = within === undefined || checkout === dirname(checkout) ? undefined : await resolveGitDir(within);
  const isMadeByOuter = outer !== undefined && gitDir.startsWith(outer + sep);
  return { checkout, gitDir, ...(outer !== undefined && !isMadeByOuter && { enclosing: within }) };
}

/**
 * Rejects with `repository_bare` if the git folder is made of files of a checkout, because their author chose its
 * settings.
 */
export async function rejectEmbedded(gitDir: string, cwd: string): Promise<void> {
  if (gitDir.split(sep).includes(".git")) return; // git never checks out a file with this name
  const around = await findCheckoutAbove(dirname(gitDir), cwd, "any").catch(() => undefined);
  if (around !== undefined) throw embeddedRepositoryError(gitDir, around);
}

/** Returns the checkout at this real path or above it, or undefined if there is none. */
export async function findEnclosingCheckout(path: string): Promise<string | undefined> {
  return findCheckoutAbove(path, path, "any");
}

/** Returns the git folder of a checkout, with symbolic links resolved, or undefined if there is none. */
export async function resolveGitDir(checkout: string): Promise<string | undefined> {
  const own = join(checkout, ".git");
  const found = await stat(own).catch(() => undefined);
  if (found?.isDirectory() === true) return realpath(own);
  if (found?.isFile() !== true || found.size > MAX_POINTER_BYTES) return undefined;
  const [, named] = /^gitdir: ([^\r\n]+)/.exec(await readFile(own, "utf8").catch(() => "")) ?? [];
  return named === undefined ? undefined : realpath(resolve(checkout, named)).catch(() => undefined);
}

/** For a path inside `.git`, returns the checkout that it belongs to. */
function leaveGitFolder(real: string): string {
  const names = real.split(sep);
  const at = names.indexOf(".git");
  return at === -1 ? real : names.slice(0, at).join(sep) || sep;
}

async function findCheckoutAbove(
  from: string,
  cwd: string,
  bare: "refused" | "any" = "refused",
): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (await isCheckout(folder)) return folder;
    if (bare === "refused" && (await looksBare(folder))) throw await toBareError(folder, cwd);
    if (folder === dirname(folder)) return undefined;
  }
}

/** An empty `.git` folder does not count: Codex's sandbox leaves one in every folder that it may write to. */
async function isCheckout(folder: string): Promise<boolean> {
  const own = await stat(join(folder, ".git")).catch(() => undefined);
  if (own?.isDirectory() !== true) return own?.isFile() === true;
  return exists(join(folder, ".git", "HEAD"));
}

/** Uses git's rule: a HEAD, and either objects and refs or a `commondir` file. */
async function looksBare(folder: string): Promise<boolean> {
  if (!(await exists(join(folder, "HEAD")))) return false;
  if (await exists(join(folder, "commondir"))) return true;
  return (await isFolder(join(folder, "objects"))) && (await isFolder(join(folder, "refs")));
}

async function toBareError(folder: string, cwd: string): Promise<RookeryError> {
  const around = await findCheckoutAbove(dirname(folder), cwd, "any");
  return around === undefined || basename(folder) === ".git"
    ? bareRepositoryError(folder)
    : embeddedRepositoryError(folder, around);
}

export function bareRepositoryError(path: string): RookeryError {
  return new RookeryError(
    "repository_bare",
    `${path} is a bare repository and has no checkout; clone it: git clone ${path} FOLDER`,
  );
}

function embeddedRepositoryError(path: string, around: string): RookeryError {
  return new RookeryError(
    "repository_bare",
    `${path} is a git repository made of files in ${around}; its settings could run commands of their author, ` +
      `so git is not run there; use ${around}, or clone it if you trust it: git clone ${path} FOLDER`,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
