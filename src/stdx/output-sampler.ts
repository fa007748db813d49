/**
 * Samples the output of a running command for people who watch it: passes on the first part of it completely, and later
 * only its end, once per second. What it passes on is bounded by the time that the command runs, not by its output.
 */

export interface OutputSamplerOptions {
  /** Gets a part of the output, or `… ` in a line of its own and the end of the output so far. Must not throw. */
  readonly emit: (text: string) => void;
  /** For tests. Default: the clock and the timers of the system. */
  readonly now?: (() => number) | undefined;
}

/** Time between two parts. The first part is passed on at once. */
const FIRST_INTERVAL_MS = 100;
const LATER_INTERVAL_MS = 1_000;
/** How many characters are passed on at the shorter interval. */
const FIRST_LENGTH = 50_000;
/** Maximum length of one part. Of more output, only the end is passed on. */
const MAX_FIRST_PART = 8_000;
const MAX_LATER_PART = 500;
const OMISSION = "\n…\n";

export class OutputSampler implements Disposable {
  readonly #emit: (text: string) => void;
  readonly #now: () => number;
  #pending = "";
  #isCut = false;
  #passed = 0;
  #lastAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor({ emit, now = () => performance.now() }: OutputSamplerOptions) {
    this.#emit = emit;
    this.#now = now;
  }

  add(text: string): void {
    if (text === "") return;
    const all = this.#pending + text;
    this.#pending = all.slice(-this.#maxPart);
    this.#isCut ||= all.length > this.#maxPart;
    const waitMs = this.#lastAt + this.#intervalMs - this.#now();
    if (waitMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs).unref();
  }

  /** Drops what was not passed on: the result of the command has its output. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#pending = "";
  }

  get #isLater(): boolean {
    return this.#passed >= FIRST_LENGTH;
  }

  get #intervalMs(): number {
    return this.#isLater ? LATER_INTERVAL_MS : FIRST_INTERVAL_MS;
  }

  get #maxPart(): number {
    return this.#isLater ? MAX_LATER_PART : MAX_FIRST_PART;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending === "") return;
    const text = (this.#isCut ? OMISSION : "") + this.#pending.toWellFormed();
    this.#pending = "";
    this.#isCut = false;
    this.#passed += text.length;
    this.#lastAt = this.#now();
    this.#emit(text);
  }
}
