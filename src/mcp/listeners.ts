/** Who wants to be told of a change. */

export class Listeners {
  readonly #listeners = new Set<() => void>();

  /** Returns how to stop being told. */
  add(listener: () => void): () => void {
    const own = (): void => listener(); // the same one twice is two
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  clear(): void {
    this.#listeners.clear();
  }
}
