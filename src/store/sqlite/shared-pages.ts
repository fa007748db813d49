/** Pages of text that were read last: of many who follow, those who are equally far are given the same one. */
import type { Database } from "./database.ts";

/** More than these are forgotten, the oldest first; a page that is larger is not kept. */
const KEPT_PAGES = 8;
const KEPT_CHARACTERS = 512 * 1024;

interface Text {
  readonly text: string;
}

/** What was committed stays as it is until it is deleted: by this process, which says so, or by another, which is seen. */
export class SharedPages {
  readonly #db: Database;
  readonly #pages = new Map<string, readonly Text[]>();
  #version: unknown;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The page that was read under this name, or what `read` gives now. A name says what is read, and after what. */
  get<Item extends Text>(name: string, read: () => readonly Item[]): readonly Item[] {
    const [version] = this.#db.get("pragma data_version") ?? [];
    if (version !== this.#version) this.forget();
    this.#version = version;
    const kept = this.#pages.get(name);
    if (kept !== undefined) return kept as readonly Item[];
    const page = read();
    if (page.length > 0 && lengthOf(page) <= KEPT_CHARACTERS) this.#keep(name, page);
    return page;
  }

  forget(): void {
    this.#pages.clear();
  }

  #keep(name: string, page: readonly Text[]): void {
    const [oldest] = this.#pages.keys();
    if (oldest !== undefined && this.#pages.size >= KEPT_PAGES) this.#pages.delete(oldest);
    this.#pages.set(name, page);
  }
}

function lengthOf(page: readonly Text[]): number {
  return page.reduce((sum, { text }) => sum + text.length, 0);
}
