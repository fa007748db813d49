/** Which messages had come when something was sent: what waits to be handled then is no answer to it. */

/** Read lines that are kept before the array is cut. */
const READ_KEPT = 1024;

export class Arrivals {
  /** Those that came and are not known to be handled. */
  #lines: string[] = [];
  #read = 0;
  #handled = 0;

  /** The number of the message that is being handled. */
  get at(): number {
    return this.#handled;
  }

  /** The number of the last that came. */
  get last(): number {
    return this.#handled + this.#lines.length - this.#read;
  }

  came(line: string): void {
    this.#lines.push(line);
  }

  /** It is being handled, in its turn: so is done what came before it, also what is not told here. */
  handling(line: string): void {
    let next: string | undefined;
    do {
      next = this.#lines[this.#read];
      if (next === undefined) break;
      this.#read += 1;
      this.#handled += 1;
    } while (next !== line);
    if (this.#read < READ_KEPT && this.#read < this.#lines.length) return;
    this.#lines = this.#lines.slice(this.#read);
    this.#read = 0;
  }
}
