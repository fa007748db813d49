/** Remembers the blobs that were used last. A model gets the same image with each request of a turn. */

export class RecentBlobs {
  readonly #maxBytes: number;
  /** The oldest first. */
  readonly #blobs = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(hash: string): Uint8Array | undefined {
    const bytes = this.#blobs.get(hash);
    if (bytes === undefined) return undefined;
    this.#blobs.delete(hash);
    this.#blobs.set(hash, bytes);
    return bytes;
  }

  /** Forgets the oldest blobs beyond the maximum size. A blob that is larger is not remembered. */
  add(hash: string, bytes: Uint8Array): void {
    if (this.#blobs.has(hash) || bytes.byteLength > this.#maxBytes) return;
    this.#blobs.set(hash, bytes);
    this.#bytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#blobs) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#blobs.delete(oldest);
      this.#bytes -= byteLength;
    }
  }
}
