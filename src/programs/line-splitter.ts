/** Splits a byte stream into lines, independent of chunk boundaries. Skips oversized lines without buffering them. */
import { isUtf8 } from "node:buffer";

export interface LineSink {
  /** Receives lines in order. Empty lines are skipped unless requested. */
  line(text: string): void;
  /** Receives the beginning and the end of a line that exceeds the limit. */
  oversize(head: string, tail: string, bytes: number): void;
  /** The next line contains invalid UTF-8, which is replaced by U+FFFD. */
  garbled?(): void;
}

export interface LineOptions {
  readonly maxBytes: number;
  readonly emptyLines?: boolean | undefined;
}

/** Bytes kept from each end of an oversized line, to identify the request it belongs to. */
const KEPT_BYTES = 4096;
const NEWLINE = 10;

export class LineSplitter {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  readonly #emptyLines: boolean;
  #parts: Buffer[] = [];
  #bytes = 0;
  #skipping: { head: Buffer; tail: Buffer; bytes: number } | undefined;

  constructor(sink: LineSink, { maxBytes, emptyLines = false }: LineOptions) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
    this.#emptyLines = emptyLines;
  }

  push(chunk: Buffer): void {
    let start = 0;
    if (this.#skipping !== undefined || this.#bytes > 0) {
      const end = chunk.indexOf(NEWLINE);
      if (end === -1) return this.#keep(chunk);
      this.#keep(chunk.subarray(0, end));
      this.#finish();
      start = end + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) {
      // Chunks of a stream are smaller than the limit, unless the limit is very low.
      if (last - start > this.#maxBytes) this.#splitEach(chunk.subarray(start, last));
      else for (const text of this.#decode(chunk.subarray(start, last)).split("\n")) this.#emit(text);
      start = last + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Ends the stream. A last line without a newline counts. */
  end(): void {
    if (this.#skipping !== undefined || this.#bytes > 0) this.#finish();
  }

  #splitEach(lines: Buffer): void {
    for (let start = 0; start <= lines.length;) {
      const next = lines.indexOf(NEWLINE, start);
      const end = next === -1 ? lines.length : next;
      this.#keep(lines.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
  }

  #keep(bytes: Buffer): void {
    const skipping = this.#skipping;
    if (skipping !== undefined) {
      skipping.bytes += bytes.length;
      skipping.tail = Buffer.concat([skipping.tail, bytes.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
      return;
    }
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#maxBytes) return;
    const all = Buffer.concat(this.#parts);
    this.#skipping = {
      head: Buffer.from(all.subarray(0, KEPT_BYTES)),
      tail: Buffer.from(all.subarray(-KEPT_BYTES)),
      bytes: all.length,
    };
    this.#parts = [];
    this.#bytes = 0;
  }

  #finish(): void {
    const skipping = this.#skipping;
    this.#skipping = undefined;
    if (skipping !== undefined) {
      this.#sink.oversize(skipping.head.toString("utf8"), skipping.tail.toString("utf8"), skipping.bytes);
      return;
    }
    const [only, ...more] = this.#parts;
    const bytes = more.length === 0 ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#emit(bytes === undefined ? "" : this.#decode(bytes));
  }

  #decode(bytes: Buffer): string {
    const text = bytes.toString("utf8");
    if (text.includes("\uFFFD") && !isUtf8(bytes)) this.#sink.garbled?.(); // the text may contain U+FFFD itself
    return text;
  }

  #emit(text: string): void {
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    if (line !== "" || this.#emptyLines) this.#sink.line(line);
  }
}
