/** Numbers incoming messages, so that messages that arrived before a prompt do not count as part of its turn. */

/** Compacts the array after this many handled lines. */
const COMPACT_AFTER = 1024;
/** Extra size of a line besides its text, as in the connection. */
const LINE_OVERHEAD = 128;

export class ArrivalLog {
  readonly #maxSize: number;
  /** Lines that arrived and are not known to be handled. */
  #lines: string[] = [];
  #read = 0;
  #size = 0;
  #handled = 0;

  /**
   * `waiting` is how much may wait on the connection, in characters; anything older has been handled. Default: 1 MiB.
   */
  constructor(waiting = 1024 * 1024) {
    this.#maxSize = 2 * waiting;
  }

  /** The number of the message that is being handled. */
  get current(): number {
    return this.#handled;
  }

  /** The number of the last message that arrived. */
  get last(): number {
    return this.#handled + this.#lines.length - this.#read;
  }

  add(line: string): void {
    while (this.#size > this.#maxSize) this.#shift();
    this.#lines.push(line);
    this.#size += line.length + LINE_OVERHEAD;
  }

  /** Call when a message is handled. Everything before it counts as handled too. */
  advanceTo(line: string): void {
    let next = this.#shift();
    while (next !== undefined && next !== line) next = this.#shift();
  }

  #shift(): string | undefined {
    const line = this.#lines[this.#read];
    if (line === undefined) return undefined;
    this.#lines[this.#read] = ""; // frees the line before the array is compacted
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
