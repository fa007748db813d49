/** A small, short-lived cache of encoded pieces, which lets readers at the same position share them. */
import type { StreamPiece } from "./piece.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** Short, because readers at the same position arrive close together and deleted events must disappear soon. */
const PIECE_KEPT_MS = 5_000;

interface CachedPiece {
  readonly piece: StreamPiece;
  readonly until: number;
}

export class PieceCache {
  /** In insertion order, oldest first. */
  readonly #kept = new Map<string, CachedPiece>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(stream: string, after: number): StreamPiece | undefined {
    const kept = this.#kept.get(toCacheKey(stream, after));
    return kept !== undefined && kept.until > performance.now() ? kept.piece : undefined;
  }

  put(stream: string, piece: StreamPiece): void {
    const key = toCacheKey(stream, piece.after);
    this.#drop(key);
    this.#kept.set(key, { piece, until: performance.now() + PIECE_KEPT_MS });
    this.#bytes += piece.bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#drop(oldest);
    }
  }

  /** Call this when the last reader leaves or when events are deleted. */
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

function toCacheKey(stream: string, after: number): string {
  return `${after} ${stream}`;
}
