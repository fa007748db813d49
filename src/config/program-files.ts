/** Hashes what an agent's program would take orders from in a repository, and the program itself if it is in there. */
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { ProgramFamily } from "../domain/program-family.ts";
import { ORDERS, PROGRAM_NAMES, type OrderSource } from "./program-orders.ts";
import { findProgramPackages } from "./program-packages.ts";
import { TreeHasher, type FileHashes } from "./tree-hash.ts";

/** Past it, folders below the working folder are too many to look through for orders. */
export const MAX_FOLDERS = 50_000;

export interface ProgramFiles {
  /** By path relative to the root. */
  readonly hashes: FileHashes;
  /** What is past a bound, with why: it cannot be trusted. */
  readonly unhashable: Readonly<Record<string, string>>;
}

export interface Checkout {
  /** The repository whose `.mcp.json` Rookery itself reads and has trusted. */
  readonly root: string;
  readonly checkout: string;
  /** A real path in the checkout. */
  readonly cwd: string;
}

/**
 * In the working folder and those above it, up to the root; for some programs in those below it, too.
 *
 * @param isKnown whether the program that is started is certainly of this family. Default: true.
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

/** The program among the repository's packages, with all packages that it would load. */
export async function binaryFiles({ checkout, cwd }: Checkout, family: ProgramFamily): Promise<ProgramFiles> {
  const hasher = new TreeHasher(checkout);
  for (const folder of listParents(cwd, checkout)) {
    const path = join(folder, "node_modules", ".bin", PROGRAM_NAMES[family]);
    await hasher.add(path);
    for (const packageFolder of await findProgramPackages(path, checkout)) await hasher.addPackages(packageFolder);
  }
  return { hashes: hasher.hashes, unhashable: hasher.unhashable };
}

/** Rookery reads `.mcp.json` too: the same file, or for a task's worktree that of its repository, which has the same name. */
function withoutOwnMcpFile(hashes: FileHashes, isSame: boolean): FileHashes {
  const { ".mcp.json": own, ...others } = hashes;
  return own === undefined || isSame ? others : { ...others, ".mcp.json of the worktree": own };
}

function listParents(folder: string, root: string): string[] {
  const above = dirname(folder);
  return folder === root || above === folder ? [root] : [folder, ...listParents(above, root)];
}

/** By every spelling that some file system takes for the name. */
async function addSource(hasher: TreeHasher, folder: string, { path, except = [] }: OrderSource): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (plainName(name) === path) await hasher.add(join(folder, name), except);
}

/** macOS and Windows ignore case, and macOS ignores characters that show nothing. */
function plainName(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
}

/**
 * A link is followed to a folder of the checkout: a program that is given a path through it looks for orders there. What
 * is outside of the checkout is not the repository's.
 */
async function addBelow(
  hasher: TreeHasher,
  place: Pick<Checkout, "checkout" | "cwd">,
  sources: readonly OrderSource[],
) {
  const { checkout, cwd } = place;
  const waiting = [cwd];
  const seen = new Set(waiting);
  while (waiting.length > 0) {
    if (seen.size > MAX_FOLDERS) {
      hasher.unhashable["."] =
        `more than ${MAX_FOLDERS} folders to look through for ${sources.map(({ path }) => path).join(", ")}`;
      return;
    }
    const folder = waiting.pop() ?? cwd;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const source = sources.find((each) => each.path === plainName(entry.name));
      if (source !== undefined && folder !== cwd) await hasher.add(path, source.except);
      if (source !== undefined || SKIPPED.has(entry.name)) continue;
      const next = entry.isDirectory() ? path : entry.isSymbolicLink() ? await linkedFolder(path, checkout) : undefined;
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
}

/** The real path that a link leads to. Undefined if that is no folder, or is outside of the checkout. */
async function linkedFolder(link: string, checkout: string): Promise<string | undefined> {
  const real = await realpath(link).catch(() => undefined);
  if (real === undefined || !real.startsWith(checkout + sep)) return undefined;
  return (await pathExists(real, "folder")) ? real : undefined;
}

/** An agent that works here does not work on files in there; worktrees of tasks are trusted by themselves. */
const SKIPPED = new Set([".git", "node_modules", ".rookery"]);

/**
 * A bare repository among the files of the checkout, around the working folder: git takes it for the repository to work
 * on, and runs what its author wrote into its settings. Every program runs git when it starts.
 */
async function refuseEmbedded(hasher: TreeHasher, { checkout, cwd }: Pick<Checkout, "checkout" | "cwd">) {
  for (const folder of listParents(cwd, checkout)) {
    const isCheckout = folder === checkout && (await pathExists(join(folder, ".git")));
    if (isCheckout || !(await pathExists(join(folder, "HEAD")))) continue;
    const isBare =
      (await pathExists(join(folder, "commondir"))) ||
      ((await pathExists(join(folder, "objects"), "folder")) && (await pathExists(join(folder, "refs"), "folder")));
    if (isBare) hasher.unhashable[relative(checkout, folder) || "."] = "a git repository among the files of another";
  }
}

async function pathExists(path: string, kind: "any" | "folder" = "any"): Promise<boolean> {
  return (kind === "folder" ? stat : lstat)(path).then(
    (found) => kind === "any" || found.isDirectory(),
    () => false,
  );
}
