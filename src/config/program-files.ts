/**
 * Hashes the files of a repository that an agent's program obeys, and the program itself if the repository contains
 * it.
 */
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { ProgramFamily } from "../domain/program-family.ts";
import { ORDERS, PROGRAM_NAMES, type OrderSource } from "./program-orders.ts";
import { findProgramPackages } from "./program-packages.ts";
import { TreeHasher, type FileHashes } from "./tree-hash.ts";

/** The maximum number of directories to search below the working directory. */
export const MAX_FOLDERS = 50_000;

export interface ProgramFiles {
  /** Hashes by path relative to the root. */
  readonly hashes: FileHashes;
  /** Paths that exceed a limit, with the reason. They cannot be trusted. */
  readonly unhashable: Readonly<Record<string, string>>;
}

export interface Checkout {
  /** The repository whose `.mcp.json` Rookery itself reads. */
  readonly root: string;
  readonly checkout: string;
  /** The working directory as a real path inside the checkout. */
  readonly cwd: string;
}

/**
 * Hashes the files in the working directory and its parents up to the root, and for some programs also below it.
 *
 * @param isKnown whether the started program certainly belongs to this family. Default: true.
 */
export async function orderFiles(
  { root, checkout, cwd }: Checkout,
  family: ProgramFamily,
  isKnown = true,
): Promise<ProgramFiles> {
  const hasher = new TreeHasher(checkout);
  const sources = ORDERS[family].sources.filter((source) => isKnown || source.ofKnownProgram !== true);
  for (const folder of listParents(cwd, checkout)) {
    for (const source of sources) await addSource(hasher, folder, source);
  }
  const below = sources.filter((source) => source.below);
  if (below.length > 0) await addBelow(hasher, { checkout, cwd }, below);
  await refuseEmbedded(hasher, { checkout, cwd });
  const { hashes, unhashable } = hasher;
  return { hashes: withoutOwnMcpFile(hashes, root === checkout), unhashable };
}

/** Hashes the program in the repository's packages, with all packages that it loads. */
export async function binaryFiles({ checkout, cwd }: Checkout, family: ProgramFamily): Promise<ProgramFiles> {
  const hasher = new TreeHasher(checkout);
  for (const folder of listParents(cwd, checkout)) {
    const path = join(folder, "node_modules", ".bin", PROGRAM_NAMES[family]);
    await hasher.add(path);
    for (const packageFolder of await findProgramPackages(path, checkout)) await hasher.addPackages(packageFolder);
  }
  return { hashes: hasher.hashes, unhashable: hasher.unhashable };
}

/**
 * Rookery hashes `.mcp.json` itself. In the worktree of a task, the file gets another name, because the repository
 * has one too.
 */
function withoutOwnMcpFile(hashes: FileHashes, isSame: boolean): FileHashes {
  const { ".mcp.json": own, ...others } = hashes;
  return own === undefined || isSame ? others : { ...others, ".mcp.json of the worktree": own };
}

function listParents(folder: string, root: string): string[] {
  const above = dirname(folder);
  return folder === root || above === folder ? [root] : [folder, ...listParents(above, root)];
}

/** Matches every spelling that a file system treats as the same name. */
async function addSource(hasher: TreeHasher, folder: string, { path, except = [] }: OrderSource): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (plainName(name) === path) await hasher.add(join(folder, name), except);
}

/** macOS and Windows ignore case, and macOS ignores invisible characters. */
function plainName(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
}

/**
 * Follows symbolic links to directories inside the checkout, because a program obeys files there too. Files outside
 * of the checkout do not belong to the repository.
 */
async function addBelow(
  hasher: TreeHasher,
  place: Pick<Checkout, "checkout" | "cwd">,
  sources: readonly OrderSource[],
) {
  const { checkout, cwd } = place;
  const queue = [cwd];
  const seen = new Set(queue);
  while (queue.length > 0) {
    if (seen.size > MAX_FOLDERS) {
      hasher.unhashable["."] =
        `more than ${MAX_FOLDERS} directories to search for ${sources.map(({ path }) => path).join(", ")}`;
      return;
    }
    const folder = queue.pop() ?? cwd;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const source = sources.find((each) => each.path === plainName(entry.name));
      if (source !== undefined && folder !== cwd) await hasher.add(path, source.except);
      if (source !== undefined || SKIPPED.has(entry.name)) continue;
      const next = entry.isDirectory() ? path : entry.isSymbolicLink() ? await linkedFolder(path, checkout) : undefined;
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
}

/** The real path of a link. Resolves with undefined if it is not a directory, or is outside of the checkout. */
async function linkedFolder(link: string, checkout: string): Promise<string | undefined> {
  const real = await realpath(link).catch(() => undefined);
  if (real === undefined || !real.startsWith(checkout + sep)) return undefined;
  return (await pathExists(real, "folder")) ? real : undefined;
}

/** Not searched: agents do not work in them, and worktrees of tasks have their own trust. */
const SKIPPED = new Set([".git", "node_modules", ".rookery"]);

/**
 * Refuses a bare repository around the working directory: git treats it as the current repository and runs the
 * commands in its configuration. Every program runs git when it starts.
 */
async function refuseEmbedded(hasher: TreeHasher, { checkout, cwd }: Pick<Checkout, "checkout" | "cwd">) {
  for (const folder of listParents(cwd, checkout)) {
    const isCheckout = folder === checkout && (await pathExists(join(folder, ".git")));
    if (isCheckout || !(await pathExists(join(folder, "HEAD")))) continue;
    const isBare =
      (await pathExists(join(folder, "commondir"))) ||
      ((await pathExists(join(folder, "objects"), "folder")) && (await pathExists(join(folder, "refs"), "folder")));
    if (isBare)
      hasher.unhashable[relative(checkout, folder) || "."] = "a git repository inside the files of another repository";
  }
}

async function pathExists(path: string, kind: "any" | "folder" = "any"): Promise<boolean> {
  return (kind === "folder" ? stat : lstat)(path).then(
    (found) => kind === "any" || found.isDirectory(),
    () => false,
  );
}
