/** The prompts that were typed in a directory, kept for the next chat there. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../../stdx/folder.ts";

/** Older prompts are dropped. */
const MAX_ENTRIES = 200;
/** Longer prompts are not kept. */
const MAX_ENTRY_LENGTH = 10_000;

export class PromptHistory {
  readonly #file: string;
  readonly #folder: string;
  #entries: readonly string[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(home: string, cwd: string) {
    this.#folder = join(home, "chat-history");
    this.#file = join(this.#folder, `${createHash("sha256").update(cwd).digest("hex").slice(0, 32)}.json`);
  }

  /** Returns the prompts, oldest first. A file that cannot be read counts as empty. */
  async load(): Promise<readonly string[]> {
    try {
      const stored: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      const entries = Array.isArray(stored) ? stored.filter((entry) => typeof entry === "string") : [];
      this.#entries = entries.slice(-MAX_ENTRIES);
    } catch {
      this.#entries = []; // there is none yet
    }
    return this.#entries;
  }

  /** Resolves when the prompt is kept. A disk that cannot be written loses only the history. */
  add(prompt: string): Promise<void> {
    if (prompt.length > MAX_ENTRY_LENGTH || this.#entries.at(-1) === prompt) return this.#writing;
    this.#entries = [...this.#entries, prompt].slice(-MAX_ENTRIES);
    const text = JSON.stringify(this.#entries);
    this.#writing = this.#writing.then(async () => {
      try {
        makeFolder(this.#folder);
        await writeFile(this.#file, text, { mode: 0o600 });
      } catch {
        // the next prompt tries again
      }
    });
    return this.#writing;
  }
}
