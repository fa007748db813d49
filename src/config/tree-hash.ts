/**
 * Hashes files and directories by path and content, within limits. Reports paths that exceed a limit instead of
 * skipping them.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readFile, readdir, readlink, realpath, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";

export type FileHashes = Readonly<Record<string, string>>;

/** The maximum work for one scan of a repository. */
export interface HashBounds {
  readonly files: number;
  readonly bytes: number;
}

/** Limits for files that people write. */
export const ORDER_BOUNDS: HashBounds = { files: 2_000, bytes: 64 * 1024 * 1024 };
/** Limits for installed packages. Each `node_modules` gets one hash, so that the trust file stays small. */
export const PACKAGE_BOUNDS: HashBounds = { files: 20_000, bytes: 256 * 1024 * 1024 };
const MAX_DEPTH = 50;
const CHUNK_BYTES = 256 * 1024;

/** Collects hashes by path relative to `root`; `unhashable` has the reason for each path that exceeds a limit. */
export class TreeHasher {
  readonly hashes: Record<string, string> = {};
  readonly unhashable: Record<string, string> = {};
  readonly #root: string;
  readonly #orders = new HashBudget(ORDER_BOUNDS);
  readonly #packages = new HashBudget(PACKAGE_BOUNDS);
  /** Reused for every file. */
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Hashes a file, or a directory with everything in it except the names in `except`. Does nothing if the path does
   * not exist.
   */
  async add(path: string, except: readonly string[] = []): Promise<void> {
    await this.#add(path, this.#orders, { except, seen: [], into: this.hashes });
  }

  /** Computes one hash for a whole directory of packages. */
  async addPackages(path: string): Promise<void> {
    const into: Record<string, string> = {};
    await this.#add(path, this.#packages, { except: [], seen: [], into });
    const name = relative(this.#root, path);
    const texts = Object.entries(into).sort(([one], [other]) => (one < other ? -1 : 1));
    if (texts.length > 0) this.hashes[name] = `packages:${sha256(JSON.stringify(texts))}`;
  }

  async #add(path: string, budget: HashBudget, walk: Walk): Promise<void> {
    const found = await lstat(path).catch((error: unknown) => (error as NodeJS.ErrnoException).code ?? "EIO");
    if (found === "ENOENT" || found === "ENOTDIR") return;
    const name = relative(this.#root, path);
    const refuse = (why: string): void => {
      this.unhashable[walk.into === this.hashes ? name : relative(this.#root, walk.top ?? path)] = why;
    };
    if (typeof found === "string") return refuse(`it cannot be read (${found})`); // for example, the path is too long
    if (basename(path) === ".gitignore" && found.isFile() && (await isWrittenByOpencode(path, found.size))) return;
    if (!budget.file()) {
      this.unhashable[relative(this.#root, walk.top ?? path)] = `more than ${budget.bounds.files} files`;
      return;
    }
    if (walk.seen.length > MAX_DEPTH) return refuse(`more than ${MAX_DEPTH} directories deep`);
    const link = found.isSymbolicLink() ? await readlink(path).catch(() => "") : undefined;
    const target = link === undefined ? found : await stat(path).catch(() => undefined);
    if (target?.isDirectory() === true) {
      const real = await realpath(path).catch(() => path);
      if (link !== undefined) walk.into[name] = `link:${sha256(link)}`;
      if (walk.seen.includes(real)) return; // a link to a parent, which is already hashed
      return this.#addFolder(path, budget, { ...walk, top: walk.top ?? path, seen: [...walk.seen, real] });
    }
    if (target !== undefined && !target.isFile()) return refuse("not a regular file");
    const hash = target === undefined ? "missing" : await hashFile(path, budget, this.#buffer);
    if (hash === undefined) return refuse(`more than ${budget.bounds.bytes / 1024 / 1024} MB in total`);
    walk.into[name] = link === undefined ? hash : `link:${sha256(JSON.stringify([link, hash]))}`;
  }

  async #addFolder(path: string, budget: HashBudget, walk: Walk): Promise<void> {
    const entries = await readdir(path, { encoding: "buffer" }).catch(() => undefined);
    if (entries === undefined) {
      walk.into[relative(this.#root, path)] = "unreadable"; // a program cannot obey files that it cannot read
      return;
    }
    if (!entries.every((entry) => isUtf8(entry))) {
      // Node cannot open such a name as text, but other programs can.
      this.unhashable[relative(this.#root, walk.top ?? path)] = "it contains a name that is not UTF-8";
    }
    for (const name of entries.map((entry) => entry.toString()).sort()) {
      if (walk.except.includes(name)) continue;
      if (budget.isUsedUp) return; // the rest does not matter
      const inner = join(path, name);
      if (name === "node_modules" && walk.into === this.hashes) await this.addPackages(inner);
      else await this.#add(inner, budget, { ...walk, except: [] });
    }
  }
}

interface Walk {
  readonly except: readonly string[];
  /** The real paths of the parents. */
  readonly seen: readonly string[];
  readonly into: Record<string, string>;
  readonly top?: string;
}

class HashBudget {
  readonly bounds: HashBounds;
  #files = 0;
  #bytes = 0;

  constructor(bounds: HashBounds) {
    this.bounds = bounds;
  }

  get isUsedUp(): boolean {
    return this.#files > this.bounds.files || this.#bytes > this.bounds.bytes;
  }

  file(): boolean {
    return (this.#files += 1) <= this.bounds.files;
  }

  read(bytes: number): boolean {
    return (this.#bytes += bytes) <= this.bounds.bytes;
  }
}

/** Computes the same hash as `readTextFile`. Resolves with undefined beyond the limit. */
async function hashFile(path: string, budget: HashBudget, buffer: Buffer): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // the path may be a FIFO by now
    if (!(await file.stat()).isFile()) return "not a file";
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return `sha256:${hash.digest("hex")}`;
      if (!budget.read(bytesRead)) return undefined;
      hash.update(buffer.subarray(0, bytesRead));
    }
  } catch {
    return "unreadable";
  }
}

/** Lines of the `.gitignore` that opencode writes. A file with any other line may be a script that a hook runs. */
const OPENCODE_IGNORES = new Set(["", "node_modules", "package.json", "package-lock.json", "bun.lock", ".gitignore"]);
const MAX_IGNORE_BYTES = 1_000;

async function isWrittenByOpencode(path: string, size: number): Promise<boolean> {
  if (size > MAX_IGNORE_BYTES) return false;
  const text = await readFile(path, "utf8").catch(() => "unreadable");
  return text.split("\n").every((line) => OPENCODE_IGNORES.has(line));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
