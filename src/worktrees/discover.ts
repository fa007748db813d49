/** Finds the repository around a folder without running git, and never takes files of a checkout for one. */
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { RookeryError } from "../domain/index.ts";
import { repositoryMissing } from "./failure.ts";

export interface FoundRepository {
  /** The folder that has the `.git`, with symbolic links resolved. */
  readonly checkout: string;
  /** Where git keeps it: `.git`, or what that file names. */
  readonly gitDir: string;
  /** The checkout that this one lies in, if its own repository has not made it. */
  readonly enclosing?: string | undefined;
}

/** Longer than any path. */
const MAX_POINTER_BYTES = 16 * 1024;

/**
 * The nearest folder upwards that has a `.git`. Rejects with `repository_missing`, with `cwd_missing`, and with
 * `repository_bare` for a bare repository, also for one that is made of files of a checkout.
 */
export async function discoverRepository(cwd: string): Promise<FoundRepository> {
  const start = await realpath(cwd).catch(() => undefined);
  if (start === undefined || !(await isFolder(start))) {
    throw new RookeryError("cwd_missing", `${cwd} is no folder, so git cannot run in it`);
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

/** Rejects with `repository_bare` if git's folder is made of files of a checkout: their author wrote its settings. */
export async function rejectEmbedded(gitDir: string, cwd: string): Promise<void> {
  if (gitDir.split(sep).includes(".git")) return; // git lets no such name into a checkout
  const around = await findCheckoutAbove(dirname(gitDir), cwd, "any").catch(() => undefined);
  if (around !== undefined) throw embeddedRepositoryError(gitDir, around);
}

/** Where the `.git` of a checkout leads, with symbolic links resolved. Undefined if it leads nowhere. */
export async function resolveGitDir(checkout: string): Promise<string | undefined> {
  const own = join(checkout, ".git");
  const found = await stat(own).catch(() => undefined);
  if (found?.isDirectory() === true) return realpath(own);
  if (found?.isFile() !== true || found.size > MAX_POINTER_BYTES) return undefined;
  const [, named] = /^gitdir: ([^\r\n]+)/.exec(await readFile(own, "utf8").catch(() => "")) ?? [];
  return named === undefined ? undefined : realpath(resolve(checkout, named)).catch(() => undefined);
}

/** From within `.git`, the checkout that it belongs to is meant. */
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

/** An empty `.git` folder is none: Codex's sandbox leaves one in each place that it may write to. */
async function isCheckout(folder: string): Promise<boolean> {
  const own = await stat(join(folder, ".git")).catch(() => undefined);
  if (own?.isDirectory() !== true) return own?.isFile() === true;
  return exists(join(folder, ".git", "HEAD"));
}

/** As git sees it: with objects and references, or with the name of the folder that has them. */
async function looksBare(folder: string): Promise<boolean> {
  if (!(await exists(join(folder, "HEAD")))) return false;
  if (await exists(join(folder, "commondir"))) return true;
  return (await isFolder(join(folder, "objects"))) && (await isFolder(join(folder, "refs")));
}

async function toBareError(folder: string, cwd: string): Promise<RookeryError> {
  const around = await findCheckoutAbove(dirname(folder), cwd, "any");
  return around === undefined || basename(folder) === ".git" ? bareRepositoryError(folder) : embeddedRepositoryError(folder, around);
}

export function bareRepositoryError(path: string): RookeryError {
  return new RookeryError(
    "repository_bare",
    `${path} is a bare repository, without a checkout to work beside; clone it: git clone ${path} FOLDER`,
  );
}

function embeddedRepositoryError(path: string, around: string): RookeryError {
  return new RookeryError(
    "repository_bare",
    `${path} is a git repository made of files in ${around}, whose settings could run commands of their author, ` +
      `so git is not run in it; use ${around}, or clone it if you trust it: git clone ${path} FOLDER`,
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
