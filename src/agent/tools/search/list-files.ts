/** Lists the files below a directory. In a repository, skips ignored files. */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { holdFolder } from "../../../stdx/index.ts";
import type { CodingToolContext } from "../tool.ts";
import { isRepositoryRoot, findRepositoryRoot, readSharedIgnoreFiles, addIgnoreFile } from "./ignore-files.ts";
import { isIgnored, type IgnoreFile } from "./ignore-rules.ts";

export interface ListFilesOptions {
  /** Whether to include ignored files. */
  readonly ignored: boolean;
}

export interface FileListing {
  /** Relative to the directory, sorted by name. */
  readonly files: readonly string[];
  /** Whether further files were skipped. */
  readonly truncated: boolean;
}

const MAX_FILES = 100_000;
const MAX_DEPTH = 100;
/** Skipped outside of a repository, where no ignore rules exist. */
const SKIPPED_FOLDERS = ["node_modules"];
/** How long the walk may block the event loop. */
const SLICE_MS = 10;

/** The ignore rules that apply in a directory of a repository. */
interface IgnoreScope {
  readonly root: string;
  /** Outermost first. */
  readonly files: readonly IgnoreFile[];
}

/** `real` must come from `confined`. Follows no symlinks, and reads no files except those with ignore rules. */
export async function listFiles(
  real: string,
  { ignored }: ListFilesOptions,
  context: CodingToolContext,
): Promise<FileListing> {
  const walk = new FolderWalk(context, ignored);
  const root = ignored ? undefined : await findRepositoryRoot(real);
  if (root === undefined) await walk.enter(real, "", undefined, 0);
  else {
    const scope = await readScopeAbove(root, real, context);
    if (scope !== undefined) await walk.enter(real, "", scope, 0);
  }
  const files = walk.files.sort();
  return { files: files.slice(0, MAX_FILES), truncated: files.length > MAX_FILES };
}

/**
 * Reads the rules from the root down to the directory, without its own. Returns undefined if the directory itself is
 * ignored.
 */
async function readScopeAbove(
  root: string,
  real: string,
  { env }: CodingToolContext,
): Promise<IgnoreScope | undefined> {
  let files = await readSharedIgnoreFiles(root, env);
  let base = "";
  for (const name of relative(root, real).split("/")) {
    if (name === "") break;
    files = await addIgnoreFile(files, root, base);
    base = base === "" ? name : `${base}/${name}`;
    if (await isIgnored(files, base, true)) return undefined;
  }
  return { root, files };
}

class FolderWalk {
  readonly files: string[] = [];
  readonly #context: CodingToolContext;
  readonly #ignored: boolean;
  #since = performance.now();

  constructor(context: CodingToolContext, ignored: boolean) {
    this.#context = context;
    this.#ignored = ignored;
  }

  /** `below` is the directory relative to where the walk started. */
  async enter(real: string, below: string, parent: IgnoreScope | undefined, depth: number): Promise<void> {
    this.#context.signal.throwIfAborted();
    if (depth > MAX_DEPTH || this.files.length > MAX_FILES) return;
    const entries = await readEntries(real);
    const scope = await this.#readScope(real, entries, parent);
    for (const entry of entries) {
      if (performance.now() - this.#since > SLICE_MS) await this.#pause();
      if (entry.name === ".git" || (await this.#isSkipped(join(real, entry.name), entry, scope))) continue;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await this.enter(join(real, entry.name), path, scope, depth + 1);
      else this.files.push(path);
      if (this.files.length > MAX_FILES) return;
    }
  }

  /** A nested repository has its own rules, and those around it do not apply. */
  async #readScope(
    real: string,
    entries: readonly Entry[],
    parent: IgnoreScope | undefined,
  ): Promise<IgnoreScope | undefined> {
    if (this.#ignored) return undefined;
    const has = (name: string): boolean => entries.some((entry) => entry.name === name);
    const isNested = real !== parent?.root && has(".git") && (await isRepositoryRoot(real));
    const scope = isNested ? { root: real, files: await readSharedIgnoreFiles(real, this.#context.env) } : parent;
    if (scope === undefined || !has(".gitignore")) return scope;
    const { root, files } = scope;
    return { root, files: await addIgnoreFile(files, root, relative(root, real)) };
  }

  async #isSkipped(real: string, entry: Entry, scope: IgnoreScope | undefined): Promise<boolean> {
    if (this.#ignored) return false;
    if (scope === undefined) return SKIPPED_FOLDERS.includes(entry.name);
    return isIgnored(scope.files, relative(scope.root, real), entry.isDirectory());
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

/** Returns no entries if the directory cannot be read, is gone or has become a symlink. */
async function readEntries(real: string): Promise<readonly Entry[]> {
  try {
    await using folder = await holdFolder(real);
    return await readdir(folder.path, { withFileTypes: true });
  } catch {
    return [];
  }
}
