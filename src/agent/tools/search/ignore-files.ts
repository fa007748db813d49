/**
 * Finds the repository around a directory and reads its ignore rules without running git: a repository's configuration
 * can name programs that git then runs, and its index can list files outside of it. Only names that a directory walk
 * found are matched.
 */
import { constants } from "node:fs";
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openPlain, type EnvironmentVariables } from "../../../stdx/index.ts";
import { readUpTo } from "../files/load-file.ts";
import { parseIgnoreFile, type IgnoreFile } from "./ignore-rules.ts";

/** Further content of the file is ignored. */
const MAX_FILE_BYTES = 128 * 1024;
/** Maximum length of all rules that apply to one path. Further files are ignored. */
const MAX_RULES_LENGTH = 256 * 1024;

/** Returns the nearest directory, upward from `real`, that contains a `.git`, or undefined. */
export async function findRepositoryRoot(real: string): Promise<string | undefined> {
  for (let folder = real; ; folder = dirname(folder)) {
    if (await isRepositoryRoot(folder)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** A bare repository counts as an ordinary directory, because git itself uses one only on request. */
export async function isRepositoryRoot(folder: string): Promise<boolean> {
  const own = join(folder, ".git");
  const found = await lstat(own).catch(() => undefined);
  if (found?.isDirectory() !== true) return found?.isFile() === true;
  return stat(join(own, "HEAD")).then(
    () => true,
    () => false,
  );
}

/** Reads the rules for the whole repository: the user's excludes, then those in the repository's git directory. */
export async function readSharedIgnoreFiles(root: string, env: EnvironmentVariables): Promise<readonly IgnoreFile[]> {
  const home = env["HOME"] ?? homedir();
  const excludes = await findUserExcludes(home, env);
  const user = await readIgnoreFile(await realpath(excludes).catch(() => excludes), "");
  const common = await findCommonGitFolder(root);
  const own = common === undefined ? undefined : await readIgnoreFile(join(common, "info", "exclude"), "");
  return [user, own].filter((file) => file !== undefined);
}

/** Adds the `.gitignore` of a directory. `base` is the directory relative to the root. */
export async function addIgnoreFile(
  files: readonly IgnoreFile[],
  root: string,
  base: string,
): Promise<readonly IgnoreFile[]> {
  const file = await readIgnoreFile(join(root, base, ".gitignore"), base);
  if (file === undefined || file.rules.length === 0) return files;
  const length = files.reduce((sum, other) => sum + other.length, file.length);
  return length > MAX_RULES_LENGTH ? files : [...files, file];
}

/** Does not follow a symlink; git does not either. */
async function readIgnoreFile(path: string, base: string): Promise<IgnoreFile | undefined> {
  const file = await openPlain(path, constants.O_RDONLY).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const text = (await readUpTo(file, MAX_FILE_BYTES)).toString("utf8");
    const isWhole = text.length < MAX_FILE_BYTES;
    return parseIgnoreFile(isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1), base);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/**
 * For a linked worktree, returns the git directory of the main checkout if that knows the worktree. Follows nothing
 * else.
 */
async function findCommonGitFolder(root: string): Promise<string | undefined> {
  const own = join(root, ".git");
  if ((await lstat(own).catch(() => undefined))?.isDirectory() === true) return own;
  const [, named] = /^gitdir: (.+)$/m.exec(await readSmallFile(own)) ?? [];
  if (named === undefined) return undefined;
  const linked = resolve(root, named);
  const back = (await readSmallFile(join(linked, "gitdir"))).trim();
  if (back === "" || resolve(linked, back) !== own) return undefined;
  const common = (await readSmallFile(join(linked, "commondir"))).trim();
  return common === "" ? linked : resolve(linked, common);
}

/** Finds `core.excludesFile` in the user's git configuration, or git's default for it. */
async function findUserExcludes(home: string, env: EnvironmentVariables): Promise<string> {
  const folder = join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git");
  const files = env["GIT_CONFIG_GLOBAL"]
    ? [env["GIT_CONFIG_GLOBAL"]]
    : [join(home, ".gitconfig"), join(folder, "config")];
  for (const file of files) {
    const [, named] = /^[ \t]*excludesfile[ \t]*=[ \t]*"?([^"\n]+)/im.exec(await readSmallFile(file)) ?? [];
    if (named !== undefined) return resolve(home, named.trim().replace(/^~\//, `${home}/`));
  }
  return join(folder, "ignore");
}

async function readSmallFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_FILE_BYTES) return "";
  return readFile(path, "utf8").catch(() => "");
}
