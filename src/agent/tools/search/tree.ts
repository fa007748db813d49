/** The files below a folder, found by walking it. In a repository, without what its `.gitignore` files leave out. */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { holdFolder } from "../../../stdx/index.ts";
import type { CallContext } from "../tool.ts";
import { isRepositoryRoot, repositoryAround, sharedIgnoreFiles, withIgnoreFile } from "./ignore-files.ts";
import { isIgnored, type IgnoreFile } from "./ignore-rules.ts";

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

const MAX_FILES = 100_000;
const MAX_DEPTH = 100;
/** Outside of a repository, where nothing else says so. */
const LEFT_OUT = ["node_modules"];
/** After this long the walk lets other work of the process go on. */
const SLICE_MS = 10;

/** What holds in a repository. */
interface Ignoring {
  readonly root: string;
  /** Outermost first. */
  readonly files: readonly IgnoreFile[];
}

/** Of a folder that was confined. No symlink is followed, and no file is read but those that say what is ignored. */
export async function treeOf(real: string, { ignored }: TreeOptions, context: CallContext): Promise<Tree> {
  const walk = new Walk(context, ignored);
  const around = ignored ? undefined : await repositoryAround(real);
  if (around === undefined) await walk.enter(real, "", undefined, 0);
  else {
    const ignoring = await ignoringAbove(around, real, context);
    if (ignoring !== undefined) await walk.enter(real, "", ignoring, 0);
  }
  const files = walk.files.sort();
  return { files: files.slice(0, MAX_FILES), truncated: files.length > MAX_FILES };
}

/** The rules from the root down to the folder, but for its own; undefined if the folder itself is ignored. */
async function ignoringAbove(root: string, real: string, { env }: CallContext): Promise<Ignoring | undefined> {
  let files = await sharedIgnoreFiles(root, env);
  let base = "";
  for (const name of relative(root, real).split("/")) {
    if (name === "") break;
    files = await withIgnoreFile(files, root, base);
    base = base === "" ? name : `${base}/${name}`;
    if (await isIgnored(files, base, true)) return undefined;
  }
  return { root, files };
}

class Walk {
  readonly files: string[] = [];
  readonly #context: CallContext;
  readonly #ignored: boolean;
  #since = performance.now();

  constructor(context: CallContext, ignored: boolean) {
    this.#context = context;
    this.#ignored = ignored;
  }

  /** `below`: the folder relative to where the walk began. */
  async enter(real: string, below: string, around: Ignoring | undefined, depth: number): Promise<void> {
    this.#context.signal.throwIfAborted();
    if (depth > MAX_DEPTH || this.files.length > MAX_FILES) return;
    const entries = await entriesOf(real);
    const ignoring = await this.#ignoringIn(real, entries, around);
    for (const entry of entries) {
      if (performance.now() - this.#since > SLICE_MS) await this.#pause();
      if (entry.name === ".git" || (await this.#isLeftOut(join(real, entry.name), entry, ignoring))) continue;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await this.enter(join(real, entry.name), path, ignoring, depth + 1);
      else this.files.push(path);
      if (this.files.length > MAX_FILES) return;
    }
  }

  /** A repository within a repository has rules of its own, and those around it end there. */
  async #ignoringIn(
    real: string,
    entries: readonly Entry[],
    around: Ignoring | undefined,
  ): Promise<Ignoring | undefined> {
    if (this.#ignored) return undefined;
    const has = (name: string): boolean => entries.some((entry) => entry.name === name);
    const isOther = real !== around?.root && has(".git") && (await isRepositoryRoot(real));
    const ignoring = isOther ? { root: real, files: await sharedIgnoreFiles(real, this.#context.env) } : around;
    if (ignoring === undefined || !has(".gitignore")) return ignoring;
    const { root, files } = ignoring;
    return { root, files: await withIgnoreFile(files, root, relative(root, real)) };
  }

  async #isLeftOut(real: string, entry: Entry, ignoring: Ignoring | undefined): Promise<boolean> {
    if (this.#ignored) return false;
    if (ignoring === undefined) return LEFT_OUT.includes(entry.name);
    return isIgnored(ignoring.files, relative(ignoring.root, real), entry.isDirectory());
  }

  async #pause(): Promise<void> {
    await setImmediate();
    this.#context.signal.throwIfAborted();
    this.#since = performance.now();
  }
}

interface Entry {
  readonly name: string;
  isDirectory(): boolean;
}

/** A folder that we may not see, or that is gone or became a link meanwhile, has nothing in it. */
async function entriesOf(real: string): Promise<readonly Entry[]> {
  try {
    await using folder = await holdFolder(real);
    return await readdir(folder.path, { withFileTypes: true });
  } catch {
    return [];
  }
}
