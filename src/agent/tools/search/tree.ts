/** The files below a folder: what git knows or would take, where there is a repository, and all that is there elsewhere. */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { holdFolder, killMarked, startGroup } from "../../../stdx/index.ts";
import { randomBytes } from "node:crypto";
import { ToolRefusal, type CallContext } from "../tool.ts";

export interface TreeOptions {
  /** Also what .gitignore leaves out. */
  readonly ignored: boolean;
}

export interface Tree {
  /** Relative to the folder, by name. */
  readonly files: readonly string[];
  /** There are more, and they were left out. */
  readonly truncated: boolean;
}

const MOST_FILES = 100_000;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 100;
/** Where there is no repository that says so. */
const LEFT_OUT = ["node_modules"];
const SETTINGS = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false"];
/** They would lead git to another repository than the one of the folder. */
const MISLEADING = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"];

/** Of a folder that was confined. No symlink is followed. */
export async function treeOf(real: string, { ignored }: TreeOptions, context: CallContext): Promise<Tree> {
  const files: string[] = [];
  const known = ignored ? undefined : await knownToGit(real, context);
  if (known === undefined) await walk(real, "", { files, ignored, depth: 0 }, context);
  else {
    for (const path of known) {
      context.signal.throwIfAborted();
      if (files.length > MOST_FILES) break;
      // A repository within a repository is one entry for git, with a slash behind it or not.
      const found = await lstat(join(real, path)).catch(() => undefined);
      if (found?.isDirectory() === true) await nested(real, path.replace(/\/$/, ""), files, context);
      else if (found !== undefined) files.push(path);
    }
  }
  files.sort();
  return { files: files.slice(0, MOST_FILES), truncated: files.length > MOST_FILES };
}

async function nested(real: string, path: string, files: string[], context: CallContext): Promise<void> {
  const { files: inner } = await treeOf(join(real, path), { ignored: false }, context);
  for (const file of inner.slice(0, MOST_FILES)) files.push(`${path}/${file}`);
}

interface Walk {
  readonly files: string[];
  readonly ignored: boolean;
  readonly depth: number;
}

async function walk(real: string, below: string, { files, ignored, depth }: Walk, context: CallContext): Promise<void> {
  context.signal.throwIfAborted();
  if (depth > MAX_DEPTH || files.length > MOST_FILES) return;
  const entries = await entriesOf(join(real, below));
  for (const entry of entries) {
    if (entry.name === ".git" || (!ignored && LEFT_OUT.includes(entry.name))) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) await walk(real, path, { files, ignored, depth: depth + 1 }, context);
    else files.push(path);
    if (files.length > MOST_FILES) return;
  }
}

/** A folder that we may not see, or that is gone or became a link meanwhile, has nothing in it. */
async function entriesOf(real: string) {
  try {
    await using folder = await holdFolder(real);
    return await readdir(folder.path, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Undefined where there is no git, or no repository that it takes for one. */
async function knownToGit(real: string, { env, marker, signal }: CallContext): Promise<string[] | undefined> {
  await using folder = await holdFolder(real);
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const own = `tree-${randomBytes(6).toString("hex")}`;
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => !MISLEADING.includes(name)));
  try {
    await using git = await startGroup("git", [...SETTINGS.flatMap((setting) => ["-c", setting]), ...args], {
      cwd: folder.path,
      env: { ...plain, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" },
      marker: `${marker},${own}`,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => void git.stop(0).catch(() => undefined);
    git.child.stderr?.resume();
    git.child.stdout?.on("data", (bytes: Buffer) => {
      if ((size += bytes.length) <= MAX_OUTPUT_BYTES) chunks.push(bytes);
      else stop();
    });
    signal.addEventListener("abort", stop, { once: true });
    const { exitCode } = await git.exited.finally(() => signal.removeEventListener("abort", stop));
    signal.throwIfAborted();
    if (size > MAX_OUTPUT_BYTES) throw new ToolRefusal("there are too many files here: give a folder within");
    if (exitCode !== 0) return undefined;
    const names = Buffer.concat(chunks).toString("utf8").split("\0");
    return [...new Set(names)].filter((name) => name !== "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    if (signal.aborted) await killMarked(own);
  }
}
