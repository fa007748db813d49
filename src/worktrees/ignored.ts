/** Finds ignored files that would be lost with a worktree. */
import { lstat, open, readFile, readdir, readlink, stat } from "node:fs/promises";
import { ifAbsent } from "./if-absent.ts";
import { listIgnoredInGitlinks } from "./gitlinks.ts";
import { displayName, readNames, joinByteName, type ByteName } from "./byte-names.ts";
import { setUpMarkerFile, type Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";

/** Folders that a package manager or an interpreter can create again. */
const DERIVED_FOLDERS = new Set(["node_modules", "__pycache__"]);
/** Marks a folder as a cache (bford.info/cachedir). */
const CACHE_TAG = "CACHEDIR.TAG";
const CACHE_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55";
/** Marks a folder as a Python virtual environment. */
const PYTHON_ENVIRONMENT = "pyvenv.cfg";

const MAX_VISITED = 50_000;
const MAX_NAMED = 1_000;
/** Larger files are not compared and count as lost. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;

/**
 * Lists ignored files relative to the root, at most 1,000. Skips files that have not changed since the setup, files that
 * the main checkout also has with the same content, and folders that a tool can create again (see `docs/adr/`).
 */
export async function findIgnoredLoss(
  worktree: Worktree,
  repository: Repository,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching"];
  const at = { cwd: worktree.path, signal };
  const lines = await readNames(repository, [...args, "--ignore-submodules=all"], at);
  const ready = await ifAbsent(stat(setUpMarkerFile(repository, worktree.id)), undefined);
  const search = new IgnoredFileSearch(worktree.path, repository.root, ready?.mtimeMs ?? 0);
  const names = lines.filter((line) => line.startsWith("!! ")).map((line) => line.slice(3));
  for (const name of [...names, ...(await listIgnoredInGitlinks(repository, at))]) {
    await search.visit(name.replace(/\/$/, ""), signal);
  }
  return search.lost.map(displayName);
}

class IgnoredFileSearch {
  readonly lost: ByteName[] = [];
  readonly #worktree: string;
  readonly #main: string;
  readonly #readyMs: number;
  #visited = 0;

  constructor(worktree: string, main: string, readyMs: number) {
    this.#worktree = worktree;
    this.#main = main;
    this.#readyMs = readyMs;
  }

  async visit(name: ByteName, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.lost.length >= MAX_NAMED) return;
    const found = await ifAbsent(lstat(joinByteName(this.#worktree, name)), undefined);
    if (found === undefined) return;
    if (found.isDirectory()) return this.#enter(name, signal);
    // Programs cannot set the change time of an inode.
    if (found.ctimeMs <= this.#readyMs || (await this.#isInMain(name))) return;
    this.lost.push(name);
  }

  async #enter(name: ByteName, signal: AbortSignal | undefined): Promise<void> {
    if (DERIVED_FOLDERS.has(name.slice(name.lastIndexOf("/") + 1))) return;
    const names = await readdir(joinByteName(this.#worktree, name), { encoding: "latin1" });
    if (names.includes(PYTHON_ENVIRONMENT) || (names.includes(CACHE_TAG) && (await this.#isCache(name)))) return;
    this.#visited += names.length;
    // A nested repository may have commits that exist nowhere else.
    if (names.includes(".git") || this.#visited > MAX_VISITED) this.lost.push(`${name}/`);
    else for (const one of names) await this.visit(`${name}/${one}`, signal);
  }

  async #isCache(name: ByteName): Promise<boolean> {
    const file = await open(joinByteName(this.#worktree, `${name}/${CACHE_TAG}`)).catch(() => undefined);
    if (file === undefined) return false;
    try {
      const { buffer } = await file.read(Buffer.alloc(CACHE_SIGNATURE.length), 0, CACHE_SIGNATURE.length, 0);
      return buffer.toString("latin1") === CACHE_SIGNATURE;
    } finally {
      await file.close();
    }
  }

  async #isInMain(name: ByteName): Promise<boolean> {
    const [ours, theirs] = [joinByteName(this.#worktree, name), joinByteName(this.#main, name)];
    const [own, other] = await Promise.all([lstat(ours), lstat(theirs).catch(() => undefined)]);
    if (other === undefined) return false;
    if (own.isSymbolicLink() && other.isSymbolicLink()) return (await readlink(ours)) === (await readlink(theirs));
    if (!own.isFile() || !other.isFile() || own.size !== other.size || own.size > MAX_COMPARED_BYTES) return false;
    return (await readFile(ours)).equals(await readFile(theirs));
  }
}
