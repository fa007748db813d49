/**
 * Caches the most recently read pages of text, so that all followers of this process at the same position read a page from
 * the file once. The HTTP server is one such follower per log; it caches the encoded page for its own readers.
 */
import type { Database } from "./database.ts";

/** Beyond this number, the oldest page is removed. Larger pages are not cached. */
const MAX_CACHED_PAGES = 8;
const MAX_PAGE_CHARACTERS = 512 * 1024;

interface EventWithText {
  readonly text: string;
}

/** Committed events only change by deletion: this process calls `clear`, and `data_version` reveals others. */
export class SharedPages {
  readonly #db: Database;
  readonly #pages = new Map<string, readonly EventWithText[]>();
  #version: unknown;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Returns the cached page, or calls `read`. The key must identify the log and the cursor. */
  get<Item extends EventWithText>(key: string, read: () => readonly Item[]): readonly Item[] {
    const [version] = this.#db.get("pragma data_version") ?? [];
    if (version !== this.#version) this.clear();
    this.#version = version;
    const cached = this.#pages.get(key);
    if (cached !== undefined) return cached as readonly Item[];
    const page = read();
    if (page.length > 0 && countPageCharacters(page) <= MAX_PAGE_CHARACTERS) this.#add(key, page);
    return page;
  }

  clear(): void {
    this.#pages.clear();
  }

  #add(key: string, page: readonly EventWithText[]): void {
    const [oldest] = this.#pages.keys();
    if (oldest !== undefined && this.#pages.size >= MAX_CACHED_PAGES) this.#pages.delete(oldest);
    this.#pages.set(key, page);
  }
}

function countPageCharacters(page: readonly EventWithText[]): number {
  return page.reduce((sum, { text }) => sum + text.length, 0);
}
