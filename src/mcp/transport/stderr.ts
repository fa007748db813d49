/** What a local server prints beside the protocol: told in whole lines, at a bounded rate, and its end kept for when it fails. */
import { Allowance } from "../allowance.ts";

const TAIL_CHARS = 2_000;
const LINE_CHARS = 4_000;
/** How much is told at once, and how much more a second after that. The rest is left out and counted. */
const BURST_CHARS = 256 * 1024;
const CHARS_A_SECOND = 8 * 1024;

export class Stderr {
  readonly #tell: (text: string) => void;
  readonly #allowance: Allowance;
  #tail = "";
  #line = "";
  #leftOut = 0;

  constructor(tell: (text: string) => void, now = () => performance.now()) {
    this.#tell = tell;
    this.#allowance = new Allowance({ atOnce: BURST_CHARS, perSecond: CHARS_A_SECOND, now });
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
    if (!this.#allowance.take(text.length)) {
      this.#leftOut += text.length;
      return;
    }
    const missing = this.#leftOut === 0 ? "" : `[${this.#leftOut} characters were left out]\n`;
    this.#leftOut = 0;
    this.#tell(missing + text);
  }
}
