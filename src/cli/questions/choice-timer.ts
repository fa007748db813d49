/**
 * Tells a key that answers a question from the first letter of a word: a choice counts only if no other key follows
 * shortly after it.
 */
const CHOICE_MS = 250;

export class ChoiceTimer implements Disposable {
  #pending: { readonly key: string; readonly act: () => void; readonly timer: NodeJS.Timeout } | undefined;

  /** The key that has not counted yet. */
  get key(): string | undefined {
    return this.#pending?.key;
  }

  /** Calls `act` soon, unless it is cancelled before. */
  offer(key: string, act: () => void): void {
    this.cancel();
    this.#pending = { key, act, timer: setTimeout(() => this.actNow(), CHOICE_MS) };
  }

  actNow(): void {
    const act = this.#pending?.act;
    this.cancel();
    act?.();
  }

  cancel(): void {
    clearTimeout(this.#pending?.timer);
    this.#pending = undefined;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}
