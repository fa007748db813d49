/** Recognizes keys that belong to what the person typed before, so that they do not act on something else. */
import { matchesKey } from "@mariozechner/pi-tui/dist/keys.js";
import { isTyped, TYPING_PAUSE_MS } from "../../questions/decision-keys.ts";

export class TypingBurst {
  #key: string | undefined;
  #until = -Infinity;

  /** Starts a burst. `key`: only repetitions of this key belong to it. Default: every character, and Enter. */
  begin(now: number, key?: string): void {
    this.#key = key;
    this.#until = now + TYPING_PAUSE_MS;
  }

  /** A key that belongs to the burst prolongs it. Another one ends it. */
  includes(data: string, now: number): boolean {
    const belongs = this.#key === undefined ? isTyped(data) || matchesKey(data, "enter") : data === this.#key;
    const isIncluded = belongs && now < this.#until;
    this.#until = isIncluded ? now + TYPING_PAUSE_MS : -Infinity;
    return isIncluded;
  }
}
