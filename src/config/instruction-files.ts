/** Finds the files with instructions for agents: `AGENTS.md`, or else `CLAUDE.md` or `GEMINI.md`. Decides no trust. */
import { readdir, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { readTextFile, type TextFile } from "./files.ts";
import type { FileHashes } from "./tree-hash.ts";

/** In the order of preference. A directory contributes one of them. */
const INSTRUCTION_NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"] as const;

/** Instructions are part of every request to the model. A larger file is left out. */
const MAX_INSTRUCTION_BYTES = 64 * 1024;
const MAX_TOTAL_BYTES = 128 * 1024;
/** Limits of the search for files below the working directory, which are only named. */
const MAX_SEARCHED_FOLDERS = 500;
const MAX_SEARCH_DEPTH = 4;
const MAX_NESTED = 20;

/** The hashes that trust is based on. */
export async function hashInstructions({ checkout, cwd }: { checkout: string; cwd: string }): Promise<FileHashes> {
  return hashInstructionFiles(checkout, await findInstructionFiles(checkout, cwd));
}

export function hashInstructionFiles(checkout: string, files: readonly TextFile[]): FileHashes {
  return Object.fromEntries(files.map(({ path, hash }) => [relative(checkout, path), hash]));
}

/** One file per directory from the checkout down to the working directory, within the size limits. */
export async function findInstructionFiles(checkout: string, cwd: string): Promise<TextFile[]> {
  const files: TextFile[] = [];
  let total = 0;
  for (const folder of listFolders(checkout, cwd)) {
    const file = await readFirst(folder, checkout);
    if (file === undefined || total + file.text.length > MAX_TOTAL_BYTES) continue;
    total += file.text.length;
    files.push(file);
  }
  return files;
}

async function readFirst(folder: string, checkout: string): Promise<TextFile | undefined> {
  for (const name of INSTRUCTION_NAMES) {
    const path = join(folder, name);
    const file = await readTextFile(path, MAX_INSTRUCTION_BYTES).catch(() => undefined);
    if (file !== undefined && (await isInside(path, checkout))) return file;
  }
  return undefined;
}

/** A link to a file outside of the repository would put that file into every request. */
async function isInside(path: string, checkout: string): Promise<boolean> {
  return (await realpath(path)).startsWith(`${checkout}${sep}`);
}

function listFolders(checkout: string, cwd: string): string[] {
  const above = dirname(cwd);
  return cwd === checkout || above === cwd ? [cwd] : [...listFolders(checkout, above), cwd];
}

/** Finds files below the working directory, relative to it. Skips dependencies and hidden directories. */
export async function findNestedInstructions(cwd: string, checkout: string): Promise<string[]> {
  const found: string[] = [];
  const queue: { readonly folder: string; readonly depth: number }[] = [{ folder: cwd, depth: 0 }];
  for (let searched = 0; searched < MAX_SEARCHED_FOLDERS && found.length < MAX_NESTED; searched += 1) {
    const next = queue.shift();
    if (next === undefined) break;
    const entries = await readdir(next.folder, { withFileTypes: true }).catch(() => []);
    const name = INSTRUCTION_NAMES.find((wanted) => entries.some((entry) => entry.isFile() && entry.name === wanted));
    if (name !== undefined && next.depth > 0) found.push(relative(checkout, join(next.folder, name)));
    if (next.depth === MAX_SEARCH_DEPTH) continue;
    for (const entry of entries) {
      const skipped = !entry.isDirectory() || entry.name.startsWith(".") || entry.name === "node_modules";
      if (!skipped) queue.push({ folder: join(next.folder, entry.name), depth: next.depth + 1 });
    }
  }
  return found.sort();
}
