/** Which messages had come when something was sent: what waits to be handled then is no answer to it. */

/** Read lines that are kept before the array is cut. */
const COMPACT_AFTER = 1024;
/** What a line counts beside its text, as in the connection. */
const LINE_OVERHEAD = 128;

export class ArrivalLog {
  readonly #most: number;
  /** Those that came and are not known to be handled. */
  #lines: string[] = [];
  #read = 0;
  #size = 0;
  #handled = 0;

  /** `waiting` is what may wait to be handled on the connection: whatever is older than that was handled. */
  constructor(waiting = 1024 * 1024) {
    this.#most = 2 * waiting;
  }

  /** The number of the message that is being handled. */
  get current(): number {
    return this.#handled;
  }

  /** The number of the last that came. */
  get last(): number {
    return this.#handled + this.#lines.length - this.#read;
  }

  add(line: string): void {
    while (this.#size > this.#most) this.#shift();
    this.#lines.push(line);
    this.#size += line.length + LINE_OVERHEAD;
  }

  /** It is being handled, in its turn: so what came before it was handled too, also what is not told here. */
  advanceTo(line: string): void {
    let next = this.#shift();
    while (next !== undefined && next !== line) next = this.#shift();
  }

  #shift(): string | undefined {
    const line = this.#lines[this.#read];
    if (line === undefined) return undefined;
    this.#lines[this.#read] = ""; // it is not to be kept until the array is cut
    this.#read += 1;
    this.#handled += 1;
    this.#size -= line.length + LINE_OVERHEAD;
    if (this.#read === this.#lines.length || this.#read >= COMPACT_AFTER) {
      this.#lines = this.#lines.slice(this.#read);
      this.#read = 0;
    }
    return line;
  }
}
