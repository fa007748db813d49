/** Files of a repository that agents' own programs take orders from: hooks, helpers, plugins, addresses to send a key to. */
import { createHash, type Hash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";

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

/** A repository with more, or with larger ones, is told by the first of them and their sizes. */
const MOST_FILES = 500;
const MOST_BYTES = 1024 * 1024;

export type FileHashes = Readonly<Record<string, string>>;

/** By family, by path relative to the root; in the root, and in the working folder where that is another. */
export async function programFiles(root: string, cwd: string): Promise<Readonly<Record<ProgramFamily, FileHashes>>> {
  const folders = [...new Set([root, cwd])];
  const found = await Promise.all(
    Object.entries(FILES).map(async ([family, names]) => {
      const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
      const hashes = await Promise.all(paths.map(async (path) => [relative(root, path), await hashOf(path)] as const));
      return [family, Object.fromEntries(hashes.filter(([, hash]) => hash !== undefined))] as const;
    }),
  );
  return Object.fromEntries(found) as Record<ProgramFamily, FileHashes>;
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
  const bytes = await readFile(path).catch(() => undefined); // who cannot read it cannot take orders from it
  if (bytes !== undefined) hash.update(bytes.subarray(0, MOST_BYTES));
  return true;
}
