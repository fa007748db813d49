/** Pieces that others may want in a moment, up to a number of bytes and for a short time. */
import type { Piece } from "./piece.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** Readers that stand at the same place come within moments; and what was deleted is not to be shown for long. */
const KEPT_MS = 5_000;

interface Kept {
  readonly piece: Piece;
  readonly until: number;
}

export class PieceCache {
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(stream: string, after: number): Piece | undefined {
    const kept = this.#kept.get(keyOf(stream, after));
    return kept !== undefined && kept.until > performance.now() ? kept.piece : undefined;
  }

  put(stream: string, piece: Piece): void {
    const key = keyOf(stream, piece.after);
    this.#drop(key);
    this.#kept.set(key, { piece, until: performance.now() + KEPT_MS });
    this.#bytes += piece.bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#drop(oldest);
    }
  }

  /** Nobody reads, or something was deleted. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.piece.bytes.length;
  }
}

function keyOf(stream: string, after: number): string {
  return `${after} ${stream}`;
}
