/** Reads the small text files of a configuration, with a size limit and clear errors. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, dirname, sep } from "node:path";
import { messageOf, RookeryError } from "../domain/errors.ts";

/** People write configuration and prompts; a larger file was named by mistake. */
export const MAX_CONFIG_FILE_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;

export interface TextFile {
  readonly path: string;
  readonly text: string;
  readonly hash: string;
}

/** Resolves with undefined if the file does not exist. Rejects with `config_invalid`. */
export async function readTextFile(path: string, maxBytes = MAX_CONFIG_FILE_BYTES): Promise<TextFile | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readBounded(path, maxBytes);
  } catch (error) {
    if (error instanceof RookeryError) throw error;
    if (["ENOENT", "ENOTDIR"].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw new RookeryError("config_invalid", `cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  return { path, text: decode(bytes, path), hash: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
}

/** Reads a prompt that a configuration file names. With `root`, the file must be inside that directory. */
export async function readPromptFile(named: string, configFile: string, root?: string): Promise<TextFile> {
  const path = resolve(dirname(configFile), named);
  const file = await readTextFile(path);
  if (file === undefined) {
    throw new RookeryError("config_invalid", `${configFile}: the prompt file ${named} does not exist`);
  }
  if (root !== undefined && isOutside(await realpath(path), root)) {
    throw new RookeryError(
      "config_invalid",
      `${configFile}: the prompt file ${named} is outside of the repository; move it into the repository`,
    );
  }
  return file;
}

/** Does not block on a FIFO, because an untrusted author may have put one there. */
async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await file.stat()).isFile()) throw new RookeryError("config_invalid", `${path} is not a file`);
  const bytes = await readAtMost(file, maxBytes + 1);
  if (bytes.length <= maxBytes) return bytes;
  throw new RookeryError("config_invalid", `${path} is too large: at most ${maxBytes} bytes are read`);
}

/** Counts the bytes, because files in /proc report a size of 0. */
async function readAtMost(file: FileHandle, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let left = most; left > 0;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(left, CHUNK_BYTES)));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RookeryError("config_invalid", `${path} is not UTF-8 text`, { cause });
  }
}

/** Compares paths without looking at the disk. */
export function isOutside(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
}
