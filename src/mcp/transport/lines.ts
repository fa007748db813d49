/** Cuts bytes into lines whatever the chunks are; a line past the limit is not kept. */

export interface LineSink {
  /** In order; without its end, and never empty. */
  line(text: string): void;
  /** Called once; nothing is read after it. */
  tooLong(): void;
}

const NEWLINE = 10;

/** Parts of a long line are put together once, when its end is there: a line of 100 MB costs a copy of it, not more. */
export class Lines {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #keep(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes) return;
    this.#isOver = true;
    this.#parts = [];
    this.#sink.tooLong();
  }

  #emit(): void {
    if (this.#isOver) return;
    const [only, ...more] = this.#parts;
    const text = (more.length === 0 ? only : Buffer.concat(this.#parts, this.#bytes))?.toString("utf8").trim();
    this.#parts = [];
    this.#bytes = 0;
    if (text !== undefined && text !== "") this.#sink.line(text);
  }
}
