/** The last of what a command wrote, in bytes and never through a character. */
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

  /** Reads as it comes, so that a flood neither blocks the command nor fills the memory. */
  collect(stream: Readable | null): void {
    const decoder = new StringDecoder("utf8"); // of each stream its own: a character may be cut between two chunks
    stream?.on("data", (bytes: Buffer) => this.#push(decoder.write(bytes)));
    stream?.on("end", () => this.#push(decoder.end()));
    stream?.on("error", () => undefined); // destroyed on purpose when the command is ended
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

/** A command that writes byte by byte must not cost a buffer for each. */
const MAX_CHUNKS = 1024;
