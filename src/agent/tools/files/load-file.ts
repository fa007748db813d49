/** Loads a file, up to a maximum size, and decodes it as UTF-8. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { openPlain, type FileStamp } from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool-refusal.ts";

export interface LoadedFile {
  readonly bytes: Buffer;
  readonly stamp: FileStamp;
}

/** Larger files are read in ranges and cannot be changed. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** `real` must come from `confined`. */
export async function loadFile(real: string, path: string): Promise<LoadedFile> {
  const file = await openPlain(real, constants.O_RDONLY);
  try {
    return await loadOpenFile(file, path);
  } finally {
    await file.close();
  }
}

export async function loadOpenFile(file: FileHandle, path: string): Promise<LoadedFile> {
  const stamp = await file.stat({ bigint: true });
  const bytes = stamp.size > MAX_FILE_BYTES ? undefined : await readUpTo(file, MAX_FILE_BYTES + 1);
  if (bytes === undefined || bytes.length > MAX_FILE_BYTES) {
    throw new ToolRefusal(`${path} has ${stamp.size} bytes, which is too large for this tool: use bash`);
  }
  return { bytes, stamp };
}

/** Counts the bytes that arrive: a file may grow while it is read, and a file in /proc reports size 0. */
export async function readUpTo(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let position = 0; position < maxBytes;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(Math.min(maxBytes - position, CHUNK_BYTES)),
      0,
      null,
      position,
    );
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return Buffer.concat(chunks);
}

/**
 * Throws a ToolRefusal if the bytes are not valid UTF-8, because replaced bytes would be lost when the file is written
 * back. Keeps a byte order mark.
 */
export function decodeUtf8(bytes: Uint8Array, path: string, { cut = false }: { readonly cut?: boolean } = {}): string {
  if (bytes.includes(0)) throw new ToolRefusal(`${path} is not a text file (${bytes.length} bytes read)`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    throw new ToolRefusal(`${path} is not valid UTF-8: use bash with a program that supports its encoding`);
  }
}
