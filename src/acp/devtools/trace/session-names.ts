/** Short names for long session ids, each of one session only. */
import { shortenText } from "./format-message.ts";

/** From the end: the beginning of many ids is a word or a time, and the same for all. */
const LENGTHS = [6, 9, 12, 18, 24];
const MAX_UNSHORTENED_LENGTH = 8;
/** Beyond this, ids are named without looking whether another has the name. */
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
