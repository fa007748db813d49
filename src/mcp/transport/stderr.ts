/**
 * The stderr of a local server: passed on in whole lines at a limited rate, with the last part kept for error messages.
 */
import { RateLimiter } from "../rate-limiter.ts";

const TAIL_CHARS = 2_000;
const LINE_CHARS = 4_000;
/** Maximum number of characters passed on at once, and per second after that. The rest is dropped and counted. */
const BURST_CHARS = 256 * 1024;
const CHARS_PER_SECOND = 8 * 1024;

export class StderrRelay {
  readonly #write: (text: string) => void;
  readonly #rateLimiter: RateLimiter;
  #tail = "";
  #line = "";
  #omitted = 0;

  constructor(write: (text: string) => void, now = () => performance.now()) {
    this.#write = write;
    this.#rateLimiter = new RateLimiter({ atOnce: BURST_CHARS, perSecond: CHARS_PER_SECOND, now });
  }

  /** The last lines, for error messages. */
  get tail(): string {
    return this.#tail.trim();
  }

  push(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
    const end = text.lastIndexOf("\n");
    const whole = end === -1 ? "" : this.#line + text.slice(0, end);
    const rest = end === -1 ? this.#line + text : text.slice(end + 1);
    this.#line = rest.length > LINE_CHARS ? "" : rest;
    if (whole !== "") this.#emit(whole);
    if (rest.length > LINE_CHARS) this.#emit(rest);
  }

  end(): void {
    if (this.#line !== "") this.#emit(this.#line);
    this.#line = "";
  }

  #emit(text: string): void {
    if (!this.#rateLimiter.take(text.length)) {
      this.#omitted += text.length;
      return;
    }
    const missing = this.#omitted === 0 ? "" : `[${this.#omitted} characters omitted]\n`;
    this.#omitted = 0;
    this.#write(missing + text);
  }
}
