/** Reads the files in which programs keep sessions: one JSON record per line, in bounded memory. */
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { RookeryError, messageOf } from "../../domain/index.ts";
import { LineSplitter, type JsonRecord } from "../../programs/index.ts";

/** Larger files are refused. Claude Code writes about 1 MB per hour of work. */
const MAX_FILE_BYTES = 1024 * 1024 * 1024;
/** Longer lines are skipped and counted. Images are inside of lines, at most some megabytes each. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** What was left out of a history, for one notice at its end. */
export class SkippedRecords {
  /** Records of types that this version does not know, by type. */
  readonly #unknown = new Map<string, number>();
  #damaged = 0;
  #long = 0;

  addUnknown(type: string): void {
    const name = this.#unknown.size < MAX_NAMED_TYPES ? type.slice(0, 60).toWellFormed() : "others";
    this.#unknown.set(name, (this.#unknown.get(name) ?? 0) + 1);
  }

  addDamaged(): void {
    this.#damaged += 1;
  }

  addLong(): void {
    this.#long += 1;
  }

  /** Returns undefined if nothing was left out. */
  describe(program: string): string | undefined {
    const unknown = [...this.#unknown.values()].reduce((sum, count) => sum + count, 0);
    const parts = [
      ...(unknown === 0
        ? []
        : [`${countOf(unknown, "record")} of unknown type (${[...this.#unknown.keys()].join(", ")})`]),
      ...(this.#damaged === 0 ? [] : [countOf(this.#damaged, "damaged line")]),
      ...(this.#long === 0 ? [] : [`${countOf(this.#long, "line")} of more than ${MAX_LINE_BYTES / 1024 / 1024} MB`]),
    ];
    return parts.length === 0 ? undefined : `the history of ${program} was imported without ${parts.join(", ")}`;
  }
}

const MAX_NAMED_TYPES = 10;
const CHUNK_BYTES = 256 * 1024;

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export interface RecordFile extends AsyncDisposable {
  /** When the file was last written. */
  readonly modifiedAt: Date;
  /**
   * Yields the records with their line numbers, counted from 0. Reads what the file had when it was opened, so that a
   * second pass sees the same lines. With `maxBytes`, reads only the beginning.
   */
  records(skipped: SkippedRecords, options?: { readonly maxBytes?: number }): AsyncIterable<NumberedRecord>;
}

export interface NumberedRecord {
  readonly line: number;
  readonly record: JsonRecord;
}

/**
 * Follows no symlink at the end of the path and does not wait for a FIFO. Rejects with `native_session_not_found` or
 * `native_session_unreadable`.
 */
export async function openRecordFile(
  path: string,
  { maxBytes: maxFileBytes = MAX_FILE_BYTES }: { readonly maxBytes?: number } = {},
): Promise<RecordFile> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((cause: unknown) => {
    throw toOpenError(path, cause);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw unreadable(path, "it is not a regular file");
    if (stats.size > maxFileBytes) throw unreadable(path, `it is larger than ${maxFileBytes / 1024 / 1024} MB`);
    return {
      modifiedAt: stats.mtime,
      records: (skipped, { maxBytes = Infinity } = {}) =>
        readRecordLines(file, Math.min(stats.size, maxBytes), skipped),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function unreadable(path: string, reason: string, cause?: unknown): RookeryError {
  const message = `the session in ${path} cannot be adopted because ${reason}: choose another session, or start a new one`;
  return new RookeryError("native_session_unreadable", message, { cause });
}

function toOpenError(path: string, cause: unknown): RookeryError {
  switch ((cause as NodeJS.ErrnoException).code) {
    case "ENOENT":
    case "ENOTDIR":
      return new RookeryError("native_session_not_found", `the session file ${path} does not exist`, { cause });
    case "ELOOP":
      return unreadable(path, "it is a symbolic link", cause);
    case "ENXIO":
      return unreadable(path, "it is not a regular file", cause);
    default:
      return unreadable(path, `it cannot be opened (${messageOf(cause)})`, cause);
  }
}

async function* readRecordLines(
  file: FileHandle,
  size: number,
  skipped: SkippedRecords,
): AsyncIterable<NumberedRecord> {
  let line = 0;
  let lines: { readonly line: number; readonly text: string }[] = [];
  const splitter = new LineSplitter(
    {
      line: (text) => lines.push({ line: line++, text }),
      oversize: () => {
        line += 1;
        skipped.addLong();
      },
    },
    { maxBytes: MAX_LINE_BYTES },
  );
  const parsed = function* (): Iterable<NumberedRecord> {
    const batch = lines;
    lines = [];
    for (const { line: number, text } of batch) {
      const record = parseJsonRecord(text);
      if (record === undefined) skipped.addDamaged();
      else yield { line: number, record };
    }
  };
  for (let position = 0; position < size;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES); // the splitter keeps parts of it
    const { bytesRead } = await file.read(chunk, 0, Math.min(CHUNK_BYTES, size - position), position);
    if (bytesRead === 0) break; // the file became shorter
    position += bytesRead;
    splitter.push(chunk.subarray(0, bytesRead));
    yield* parsed();
  }
  splitter.end();
  yield* parsed();
}

function parseJsonRecord(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    return undefined;
  }
}
