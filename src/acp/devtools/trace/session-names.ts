/** Short, unique names for long session ids. */
import { shortenText } from "./format-message.ts";

/** Taken from the end, because many ids start with the same word or time. */
const LENGTHS = [6, 9, 12, 18, 24];
const MAX_UNSHORTENED_LENGTH = 8;
/** Above this number, names are no longer checked for uniqueness. */
const MAX_KNOWN = 10_000;

export class SessionNames {
  readonly #byId = new Map<string, string>();
  readonly #taken = new Set<string>();

  getName(id: string): string {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const names = [...LENGTHS.map((length) => `…${shortenText(id.slice(-length))}`), shortenText(id)];
    const name = id.length <= MAX_UNSHORTENED_LENGTH ? shortenText(id) : names.find((each) => !this.#taken.has(each));
    const chosen = name ?? shortenText(id);
    if (this.#byId.size < MAX_KNOWN) {
      this.#byId.set(id, chosen);
      this.#taken.add(chosen);
    }
    return chosen;
  }
}
