/** What a local server prints beside the protocol: told in whole lines, at a bounded rate, and its end kept for when it fails. */

const TAIL_CHARS = 2_000;
const LINE_CHARS = 4_000;
/** How much is told at once, and how much more a second after that. The rest is left out and counted. */
const BURST_CHARS = 256 * 1024;
const CHARS_A_SECOND = 8 * 1024;

export class Stderr {
  readonly #tell: (text: string) => void;
  readonly #now: () => number;
  #tail = "";
  #line = "";
  #budget = BURST_CHARS;
  #filledAt: number;
  #leftOut = 0;

  constructor(tell: (text: string) => void, now: () => number = () => performance.now()) {
    this.#tell = tell;
    this.#now = now;
    this.#filledAt = now();
  }

  /** The last lines, for a reason. */
  get tail(): string {
    return this.#tail.trim();
  }

  push(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
    const end = text.lastIndexOf("\n");
    const whole = end === -1 ? "" : this.#line + text.slice(0, end);
    const rest = end === -1 ? this.#line + text : text.slice(end + 1);
    this.#line = rest.length > LINE_CHARS ? "" : rest;
    if (whole !== "") this.#pass(whole);
    if (rest.length > LINE_CHARS) this.#pass(rest);
  }

  end(): void {
    if (this.#line !== "") this.#pass(this.#line);
    this.#line = "";
  }

  #pass(text: string): void {
    const now = this.#now();
    this.#budget = Math.min(BURST_CHARS, this.#budget + ((now - this.#filledAt) / 1000) * CHARS_A_SECOND);
    this.#filledAt = now;
    if (text.length > this.#budget) {
      this.#leftOut += text.length;
      return;
    }
    this.#budget -= text.length;
    const missing = this.#leftOut === 0 ? "" : `[${this.#leftOut} characters were left out]\n`;
    this.#leftOut = 0;
    this.#tell(missing + text);
  }
}
