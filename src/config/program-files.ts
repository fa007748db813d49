/** Files of a repository that agents' own programs take orders from: hooks, helpers, plugins, addresses to send a key to. */
import { createHash, type Hash } from "node:crypto";
import { open, readdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** Whose files; an agent that is no such program has none. */
export type ProgramFamily = "claude" | "codex" | "gemini" | "opencode";

/** A folder counts with all that is in it. */
const FILES: Readonly<Record<ProgramFamily, readonly string[]>> = {
  claude: [".claude/settings.json", ".claude/settings.local.json"],
  codex: [".codex/config.toml", ".codex/hooks.json", ".codex/rules"],
  // Its variables may say where the key is sent.
  gemini: [".gemini/settings.json", ".gemini/.env", ".env", ".gemini/extensions", ".gemini/hooks"],
  opencode: ["opencode.json", "opencode.jsonc", ".opencode"],
};

/** The program itself, where the repository has it among its packages. */
const BINARIES: Readonly<Record<ProgramFamily, string>> = {
  claude: "node_modules/.bin/claude",
  codex: "node_modules/.bin/codex",
  gemini: "node_modules/.bin/gemini",
  opencode: "node_modules/.bin/opencode",
};

/** A repository with more, or with larger ones, is told by the first of them and their sizes. */
const MOST_FILES = 500;
const MOST_BYTES = 1024 * 1024;

export type FileHashes = Readonly<Record<string, string>>;

export interface ProgramFiles {
  /** What it takes orders from. */
  readonly orders: FileHashes;
  /** The program itself: of interest where that is the one that is started. */
  readonly binary: FileHashes;
}

/** By family, by path relative to the root; in the working folder and those above it, up to the root. */
export async function programFiles(root: string, cwd: string): Promise<Readonly<Record<ProgramFamily, ProgramFiles>>> {
  const folders = upwards(cwd, root);
  const hashes = async (names: readonly string[]): Promise<FileHashes> => {
    const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
    const found = await Promise.all(paths.map(async (path) => [relative(root, path), await hashOf(path)] as const));
    return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
  };
  const families = Object.keys(FILES) as ProgramFamily[];
  const entries = families.map(async (family) => {
    const [orders, binary] = await Promise.all([hashes(FILES[family]), hashes([BINARIES[family]])]);
    return [family, { orders, binary }] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<ProgramFamily, ProgramFiles>;
}

function upwards(folder: string, root: string): string[] {
  const above = dirname(folder);
  return folder === root || above === folder ? [root] : [folder, ...upwards(above, root)];
}

/** Undefined where there is nothing. */
async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  return (await add(hash, path, { files: 0 })) ? hash.digest("hex") : undefined;
}

async function add(hash: Hash, path: string, seen: { files: number }): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || seen.files >= MOST_FILES) return false;
  if (found.isDirectory()) {
    let any = false;
    for (const name of (await readdir(path).catch(() => [])).sort()) {
      if (name === "node_modules" || name === ".gitignore") continue; // packages are named by files beside them
      hash.update(`\0${name}\0`);
      any = (await add(hash, join(path, name), seen)) || any;
    }
    return any;
  }
  if (!found.isFile()) return false;
  seen.files += 1;
  hash.update(`${found.size}\0`);
  hash.update(await beginningOf(path).catch(() => "")); // who cannot read it cannot take orders from it
  return true;
}

async function beginningOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
