/** Reads the few small text files that configuration consists of, with a bound and in words where that fails. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, dirname, sep } from "node:path";
import { messageOf, RookeryError } from "../domain/errors.ts";

/** Configuration and prompts are written by people; what is longer than this was named by mistake. */
export const MAX_CONFIG_FILE_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;

export interface TextFile {
  readonly path: string;
  readonly text: string;
  readonly hash: string;
}

/** Undefined where there is no such file. */
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

/** A prompt that a configuration file names; with `within`, one that may not lie outside of that folder. */
export async function readPromptFile(named: string, configFile: string, within?: string): Promise<TextFile> {
  const path = resolve(dirname(configFile), named);
  const file = await readTextFile(path);
  if (file === undefined) {
    throw new RookeryError("config_invalid", `${configFile}: the prompt file ${named} does not exist`);
  }
  if (within !== undefined && isOutside(await realpath(path), within)) {
    throw new RookeryError("config_invalid", `${configFile}: the prompt file ${named} is outside of the repository`);
  }
  return file;
}

/** Whoever wrote a repository chose what lies there: a FIFO must not be waited for. */
async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await file.stat()).isFile()) throw new RookeryError("config_invalid", `${path} is not a file`);
  const bytes = await readAtMost(file, maxBytes + 1);
  if (bytes.length <= maxBytes) return bytes;
  throw new RookeryError("config_invalid", `${path} is too large: at most ${maxBytes} bytes are read`);
}

/** Counts what comes, since a file of /proc says that it has no bytes. */
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

function isOutside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}
