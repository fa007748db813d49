/** Reads a range of lines from a file that is too large for memory. Reads no further than the end of the range. */
import type { FileHandle } from "node:fs/promises";

export interface LineRangeOptions {
  /** The number of the first line, starting at 1. */
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface LineRange {
  /** The lines with their line endings, up to `maxBytes`. The last character may be cut. */
  readonly bytes: Buffer;
  /** The number of lines in the file, if it ends before the range. */
  readonly lines?: number | undefined;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

export async function readLineRange(
  file: FileHandle,
  { offset, limit, maxBytes, signal }: LineRangeOptions,
): Promise<LineRange> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const found: Buffer[] = [];
  let size = 0;
  let line = 1;
  let last = NEWLINE;
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const read = chunk.subarray(0, bytesRead);
    last = read.at(-1) ?? last;
    let start = 0;
    while (start < read.length) {
      if (line >= offset + limit || size >= maxBytes) return { bytes: Buffer.concat(found) };
      const newline = read.indexOf(NEWLINE, start);
      const end = newline === -1 ? read.length : newline + 1;
      if (line >= offset) {
        const piece = Buffer.from(read.subarray(start, Math.min(end, start + maxBytes - size)));
        found.push(piece);
        size += piece.length;
      }
      if (newline !== -1) line += 1;
      start = end;
    }
  }
  const lines = last === NEWLINE ? line - 1 : line;
  return { bytes: Buffer.concat(found), ...(size === 0 && { lines }) };
}
