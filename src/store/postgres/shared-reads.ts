/** Lets followers at the same position share one query. */

export class SharedReads<Page> {
  readonly #running = new Map<string, Promise<Page>>();

  /** Returns the page that is being read for this key, or calls `read`. The key must identify log and cursor. */
  get(key: string, read: () => Promise<Page>): Promise<Page> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const page = read().finally(() => this.#running.delete(key));
    this.#running.set(key, page);
    return page;
  }
}
