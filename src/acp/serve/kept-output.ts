/** Keeps the last bytes of a command's output without splitting a character. */
import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";

export class KeptOutput {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Reads continuously, so that a flood of output neither blocks the command nor fills memory. */
  collect(stream: Readable | null): void {
    const decoder = new StringDecoder("utf8"); // one per stream, because a character may span two chunks
    stream?.on("data", (bytes: Buffer) => this.#push(decoder.write(bytes)));
    stream?.on("end", () => this.#push(decoder.end()));
    stream?.on("error", () => undefined); // the stream is destroyed when the command is stopped
  }

  read(): { output: string; truncated: boolean } {
    const all = Buffer.concat(this.#chunks);
    let start = Math.max(0, all.length - this.#limit);
    while (start < all.length && ((all[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return { output: all.toString("utf8", start), truncated: this.#truncated };
  }

  #push(text: string): void {
    if (text === "") return;
    const bytes = Buffer.from(text);
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    this.#truncated ||= this.#bytes > this.#limit;
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      if (this.#bytes - first.length < this.#limit) break;
      this.#bytes -= first.length;
      this.#chunks.shift();
    }
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)];
  }
}

/** A command that writes single bytes must not cost one buffer each. */
const MAX_CHUNKS = 1024;
