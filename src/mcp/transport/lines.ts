/** Splits bytes into lines. A line above the limit is dropped. */

export interface MessageLineSink {
  /** Called for each non-empty line in order, without the line end. */
  line(text: string): void;
  /** Called once. Nothing is read after it. */
  tooLong(): void;
}

const NEWLINE = 10;

/** Joins the parts of a line once, at its end, so that a line of 100 MB is copied only once. */
export class MessageLines {
  readonly #sink: MessageLineSink;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(sink: MessageLineSink, maxBytes: number) {
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
