/** A file as it stands: its bytes, within a bound, and the text that they are. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { openPlain, type FileStamp } from "../../../stdx/index.ts";
import { ToolRefusal } from "../tool.ts";

export interface LoadedFile {
  readonly bytes: Buffer;
  readonly stamp: FileStamp;
}

/** What is larger is read in ranges, and not changed. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Of a file that was confined. */
export async function load(real: string, path: string): Promise<LoadedFile> {
  const file = await openPlain(real, constants.O_RDONLY);
  try {
    return await loadOpen(file, path);
  } finally {
    await file.close();
  }
}

export async function loadOpen(file: FileHandle, path: string): Promise<LoadedFile> {
  const stamp = await file.stat({ bigint: true });
  const bytes = stamp.size > MAX_FILE_BYTES ? undefined : await readAtMost(file, MAX_FILE_BYTES + 1);
  if (bytes === undefined || bytes.length > MAX_FILE_BYTES) {
    throw new ToolRefusal(`${path} has ${stamp.size} bytes, more than this tool changes: use bash`);
  }
  return { bytes, stamp };
}

/** Counts what comes: a file may grow while it is read, and one of /proc says that it has no bytes. */
export async function readAtMost(file: FileHandle, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let position = 0; position < most;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(Math.min(most - position, CHUNK_BYTES)),
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

/** Bytes that would be replaced in reading would be lost in writing back; a byte order mark is text like any other. */
export function decoded(bytes: Uint8Array, path: string, { cut = false }: { readonly cut?: boolean } = {}): string {
  if (bytes.includes(0)) throw new ToolRefusal(`${path} is not a text file (${bytes.length} bytes read)`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    throw new ToolRefusal(`${path} is not UTF-8: use bash, with a program that knows its encoding`);
  }
}
