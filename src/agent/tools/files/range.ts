/** Finds a range of lines in a file that is too large to be held, without reading more than what comes before it. */
import type { FileHandle } from "node:fs/promises";

export interface Range {
  /** Of the first line, from 1 on. */
  readonly offset: number;
  readonly limit: number;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

export interface FoundRange {
  /** The lines with their ends, as far as they fit; the last character may be cut. */
  readonly bytes: Buffer;
  /** How many lines there are, where the end was met before the range. */
  readonly lines?: number | undefined;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

export async function findRange(file: FileHandle, { offset, limit, mostBytes, signal }: Range): Promise<FoundRange> {
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
      if (line >= offset + limit || size >= mostBytes) return { bytes: Buffer.concat(found) };
      const newline = read.indexOf(NEWLINE, start);
      const end = newline === -1 ? read.length : newline + 1;
      if (line >= offset) {
        const piece = Buffer.from(read.subarray(start, Math.min(end, start + mostBytes - size)));
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
