/**
 * Finds the repository around a folder and reads what it ignores, without running git: a repository can name programs
 * that git then runs, and can list files that are outside of it. Only names of files that a walk found are matched.
 */
import { constants } from "node:fs";
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openPlain } from "../../../stdx/index.ts";
import { readAtMost } from "../files/load.ts";
import { parseIgnoreFile, type IgnoreFile } from "./ignore-rules.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The rest of a longer file is ignored. */
const MAX_FILE_BYTES = 128 * 1024;
/** Of all files that hold for one path. Further files are ignored. */
const MAX_RULES_LENGTH = 256 * 1024;

/** The nearest folder upwards that holds a `.git`, or undefined. */
export async function repositoryAround(real: string): Promise<string | undefined> {
  for (let folder = real; ; folder = dirname(folder)) {
    if (await isRepositoryRoot(folder)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** A bare repository is a folder of files like any other: git itself must be asked to take it for one. */
export async function isRepositoryRoot(folder: string): Promise<boolean> {
  const own = join(folder, ".git");
  const found = await lstat(own).catch(() => undefined);
  if (found?.isDirectory() !== true) return found?.isFile() === true;
  return stat(join(own, "HEAD")).then(
    () => true,
    () => false,
  );
}

/** What holds in the whole repository: the user's own excludes, then those of the repository's git folder. */
export async function sharedIgnoreFiles(root: string, env: Env): Promise<readonly IgnoreFile[]> {
  const home = env["HOME"] ?? homedir();
  const excludes = await userExcludes(home, env);
  const user = await readIgnoreFile(await realpath(excludes).catch(() => excludes), "");
  const common = await commonFolder(root);
  const own = common === undefined ? undefined : await readIgnoreFile(join(common, "info", "exclude"), "");
  return [user, own].filter((file) => file !== undefined);
}

/** Adds the `.gitignore` of a folder. `base`: the folder, relative to the root. */
export async function withIgnoreFile(
  files: readonly IgnoreFile[],
  root: string,
  base: string,
): Promise<readonly IgnoreFile[]> {
  const file = await readIgnoreFile(join(root, base, ".gitignore"), base);
  if (file === undefined || file.rules.length === 0) return files;
  const length = files.reduce((sum, other) => sum + other.length, file.length);
  return length > MAX_RULES_LENGTH ? files : [...files, file];
}

/** A file that is a link is not followed, as git does not. */
async function readIgnoreFile(path: string, base: string): Promise<IgnoreFile | undefined> {
  const file = await openPlain(path, constants.O_RDONLY).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const text = (await readAtMost(file, MAX_FILE_BYTES)).toString("utf8");
    const isWhole = text.length < MAX_FILE_BYTES;
    return parseIgnoreFile(isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1), base);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Of a linked worktree it is the main checkout's, if that knows the worktree too; nothing else is followed. */
async function commonFolder(root: string): Promise<string | undefined> {
  const own = join(root, ".git");
  if ((await lstat(own).catch(() => undefined))?.isDirectory() === true) return own;
  const [, named] = /^gitdir: (.+)$/m.exec(await shortText(own)) ?? [];
  if (named === undefined) return undefined;
  const linked = resolve(root, named);
  const back = (await shortText(join(linked, "gitdir"))).trim();
  if (back === "" || resolve(linked, back) !== own) return undefined;
  const common = (await shortText(join(linked, "commondir"))).trim();
  return common === "" ? linked : resolve(linked, common);
}

/** `core.excludesFile` of the user's own configuration, or git's default for it. */
async function userExcludes(home: string, env: Env): Promise<string> {
  const folder = join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "git");
  const files = env["GIT_CONFIG_GLOBAL"]
    ? [env["GIT_CONFIG_GLOBAL"]]
    : [join(home, ".gitconfig"), join(folder, "config")];
  for (const file of files) {
    const [, named] = /^[ \t]*excludesfile[ \t]*=[ \t]*"?([^"\n]+)/im.exec(await shortText(file)) ?? [];
    if (named !== undefined) return resolve(home, named.trim().replace(/^~\//, `${home}/`));
  }
  return join(folder, "ignore");
}

async function shortText(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_FILE_BYTES) return "";
  return readFile(path, "utf8").catch(() => "");
}
