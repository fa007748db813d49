/** Hashes files and folders by path and whole content, within bounds; names what is past them instead of skipping it. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readFile, readdir, readlink, realpath, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";

export type FileHashes = Readonly<Record<string, string>>;

/** What one look at a repository may cost. */
export interface HashBounds {
  readonly files: number;
  readonly bytes: number;
}

/** Files that people write. */
export const ORDER_BOUNDS: HashBounds = { files: 2_000, bytes: 64 * 1024 * 1024 };
/** Installed packages: one hash for each `node_modules`, so that the memory of trust stays small. */
export const PACKAGE_BOUNDS: HashBounds = { files: 20_000, bytes: 256 * 1024 * 1024 };
const MAX_DEPTH = 50;
const CHUNK_BYTES = 256 * 1024;

/** Collects hashes by path relative to `root`; `unhashable` says of each path that is past a bound why it is. */
export class TreeHasher {
  readonly hashes: Record<string, string> = {};
  readonly unhashable: Record<string, string> = {};
  readonly #root: string;
  readonly #orders = new HashBudget(ORDER_BOUNDS);
  readonly #packages = new HashBudget(PACKAGE_BOUNDS);
  /** For one file after the other. */
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);

  constructor(root: string) {
    this.#root = root;
  }

  /** A file, or a folder with all that is in it; nothing if there is nothing. A name in `except` is left out of the folder. */
  async add(path: string, except: readonly string[] = []): Promise<void> {
    await this.#add(path, this.#orders, { except, seen: [], into: this.hashes });
  }

  /** One hash for a whole folder of packages. */
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
    if (typeof found === "string") return refuse(`it cannot be looked at (${found})`); // a path too long, for example
    if (basename(path) === ".gitignore" && found.isFile() && (await isWrittenByOpencode(path, found.size))) return;
    if (!budget.file()) {
      this.unhashable[relative(this.#root, walk.top ?? path)] = `more than ${budget.bounds.files} files`;
      return;
    }
    if (walk.seen.length > MAX_DEPTH) return refuse(`more than ${MAX_DEPTH} folders deep`);
    const link = found.isSymbolicLink() ? await readlink(path).catch(() => "") : undefined;
    const target = link === undefined ? found : await stat(path).catch(() => undefined);
    if (target?.isDirectory() === true) {
      const real = await realpath(path).catch(() => path);
      if (link !== undefined) walk.into[name] = `link:${sha256(link)}`;
      if (walk.seen.includes(real)) return; // a link to a folder above it: all of that is hashed already
      return this.#addFolder(path, budget, { ...walk, top: walk.top ?? path, seen: [...walk.seen, real] });
    }
    if (target !== undefined && !target.isFile()) return refuse("not a regular file");
    const hash = target === undefined ? "missing" : await hashFile(path, budget, this.#buffer);
    if (hash === undefined) return refuse(`more than ${budget.bounds.bytes / 1024 / 1024} MB in all`);
    walk.into[name] = link === undefined ? hash : `link:${sha256(JSON.stringify([link, hash]))}`;
  }

  async #addFolder(path: string, budget: HashBudget, walk: Walk): Promise<void> {
    const entries = await readdir(path, { encoding: "buffer" }).catch(() => undefined);
    if (entries === undefined) {
      walk.into[relative(this.#root, path)] = "unreadable"; // a program that cannot read it takes no orders from it
      return;
    }
    if (!entries.every((entry) => isUtf8(entry))) {
      // A program in another language than ours opens it; we cannot, by a text.
      this.unhashable[relative(this.#root, walk.top ?? path)] = "a name in it is not UTF-8";
    }
    for (const name of entries.map((entry) => entry.toString()).sort()) {
      if (walk.except.includes(name)) continue;
      if (budget.isUsedUp) return; // what is left makes no difference
      const inner = join(path, name);
      if (name === "node_modules" && walk.into === this.hashes) await this.addPackages(inner);
      else await this.#add(inner, budget, { ...walk, except: [] });
    }
  }
}

interface Walk {
  readonly except: readonly string[];
  /** The real paths of the folders above. */
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

/** As `readText` has it, so that one file has one hash. Undefined past the bound. */
async function hashFile(path: string, budget: HashBudget, buffer: Buffer): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // it may have become a FIFO
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

/** In `.opencode/.gitignore`, whatever its order; one with anything else in it may be a script that a hook runs. */
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
