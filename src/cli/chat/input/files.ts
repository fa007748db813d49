/** Lists the files of a directory for completion, without those that git ignores. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { EnvironmentVariables } from "../../../stdx/environment.ts";
import { gitTry } from "../../../worktrees/git.ts";

const MAX_FILES = 20_000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
const LIST_DEADLINE_MS = 3_000;
/** How long a list is used before it is read again. */
const CACHE_MS = 5_000;
const SKIPPED_FOLDERS = new Set([".git", "node_modules"]);

export class FileList {
  readonly #cwd: string;
  readonly #env: EnvironmentVariables;
  #cache: { readonly at: number; readonly paths: Promise<readonly string[]> } | undefined;

  constructor(cwd: string, env: EnvironmentVariables) {
    this.#cwd = cwd;
    this.#env = env;
  }

  /** Paths relative to the directory. Folders end with a slash. */
  list(): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#cache === undefined || now - this.#cache.at > CACHE_MS) {
      this.#cache = { at: now, paths: this.#read().catch(() => []) };
    }
    return this.#cache.paths;
  }

  /**
   * Returns the content of a folder, even if git ignores it. `folder` ends with a slash. Empty if it cannot be read.
   */
  async listFolder(folder: string): Promise<readonly string[]> {
    const entries = await readdir(join(this.#cwd, folder), { withFileTypes: true }).catch(() => []);
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}${name}/`);
    const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => `${folder}${name}`);
    return [...folders.sort(), ...files.sort()].slice(0, MAX_FILES);
  }

  async #read(): Promise<readonly string[]> {
    const files = (await this.#listWithGit()) ?? (await this.#listFolders());
    const folders = new Set<string>();
    for (const file of files) {
      for (let end = file.indexOf("/"); end !== -1; end = file.indexOf("/", end + 1))
        folders.add(file.slice(0, end + 1));
    }
    return [...folders, ...files];
  }

  /** Returns undefined outside of a repository. */
  async #listWithGit(): Promise<readonly string[] | undefined> {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const options = { env: this.#env, marker: `rookery-chat-${process.pid}`, deadlineMs: LIST_DEADLINE_MS };
    const { code, stdout, truncated } = await gitTry(this.#cwd, args, options, { truncateAt: MAX_LIST_BYTES });
    if (code !== 0 && !truncated) return undefined;
    return [...new Set(stdout.split("\0").filter((path) => path !== ""))].slice(0, MAX_FILES);
  }

  async #listFolders(): Promise<readonly string[]> {
    const found: string[] = [];
    const open = [""];
    for (let folder = open.shift(); folder !== undefined && found.length < MAX_FILES; folder = open.shift()) {
      const entries = await readdir(join(this.#cwd, folder), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        if (entry.isFile()) found.push(folder + entry.name);
        else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) open.push(`${folder}${entry.name}/`);
      }
    }
    return found;
  }
}
