/**
 * Detects database files that were deleted, replaced, overwritten or truncated. The system accepts writes to a deleted
 * file, but they are lost.
 */
import { readSync, statSync, type BigIntStats } from "node:fs";
import { RookeryError } from "../../domain/index.ts";
import type { FileDescriptor } from "./descriptors.ts";

/** SQLite keeps `-wal` and `-shm` while a connection is open. A new file means that others write elsewhere. */
const SUFFIXES = ["", "-wal", "-shm"] as const;

/** The first bytes of the file, as https://sqlite.org/fileformat.html#the_database_header describes them. */
const HEADER_BYTES = 100;
const PAGE_SIZE_AT = 16;
const PAGES_AT = 28;
const FILE_ID_AT = 68;

export interface OpenedFile {
  readonly path: string;
  readonly descriptor: FileDescriptor;
  /** What `pragma application_id` returns: a random number of this file. 0 if it has none. */
  readonly fileId: number;
}

export class FileIdentity {
  readonly #path: string;
  readonly #descriptor: FileDescriptor;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #known = new Map<string, string>();
  /** The ids that the header may have. A new id is only in the write-ahead log until a checkpoint. */
  #fileIds: readonly number[];
  readonly #fileId: number;
  #size = 0n;

  /** Create this after the file is open. */
  constructor({ path, descriptor, fileId }: OpenedFile) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#fileId = fileId;
    for (const suffix of SUFFIXES) this.#remember(suffix, readFileStats(path + suffix));
    this.#fileIds = this.#readHeader() < HEADER_BYTES ? [fileId] : [fileId, this.#header.readUInt32BE(FILE_ID_AT)];
  }

  /**
   * Throws `store_replaced` if a file was deleted, moved, replaced or overwritten with another database, and
   * `store_corrupt` if it was truncated. Costs ten microseconds.
   */
  check(): void {
    for (const suffix of SUFFIXES) {
      const found = readFileStats(this.#path + suffix);
      const known = this.#known.get(suffix);
      if (known === undefined) this.#remember(suffix, found);
      else if (found === undefined) throw toFileReplacedError(this.#path, suffix, "deleted");
      else if (toFileIdentity(found) !== known) throw toFileReplacedError(this.#path, suffix, "replaced");
      else if (suffix === "") this.#checkContent(found.size);
    }
  }

  /** Like `check`, but only of the content of the file. Costs a microsecond. */
  checkHeader(): void {
    if (this.#readHeader() < HEADER_BYTES) throw toFileTruncatedError(this.#path);
    const found = this.#header.readUInt32BE(FILE_ID_AT);
    if (!this.#fileIds.includes(found)) throw toFileOverwrittenError(this.#path);
    if (found === this.#fileId) this.#fileIds = [found];
  }

  #checkContent(size: bigint): void {
    const isSmaller = size < this.#size;
    this.#size = size;
    this.checkHeader();
    if (isSmaller && size < declaredSize(this.#header)) throw toFileTruncatedError(this.#path);
  }

  /** Reads the file itself: SQLite would answer from its cache or from the write-ahead log. */
  #readHeader(): number {
    return readSync(this.#descriptor.number, this.#header, 0, HEADER_BYTES, 0);
  }

  #remember(suffix: string, stats: BigIntStats | undefined): void {
    if (stats === undefined) return;
    this.#known.set(suffix, toFileIdentity(stats));
    if (suffix === "") this.#size = stats.size;
  }
}

function readFileStats(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // a parent folder is missing or not accessible
  }
}

function toFileIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** The size that the file has according to its header. */
function declaredSize(header: Buffer): bigint {
  const pageSize = header.readUInt16BE(PAGE_SIZE_AT);
  return BigInt(header.readUInt32BE(PAGES_AT)) * BigInt(pageSize === 1 ? 65_536 : pageSize);
}

function toFileReplacedError(path: string, suffix: string, how: string): RookeryError {
  const what = `${path}${suffix} was ${how} while this process used it, so new events would be lost`;
  return new RookeryError("store_replaced", `${what}: restore the file if you can, then start rookery again`);
}

function toFileOverwrittenError(path: string): RookeryError {
  const what = `${path} was overwritten with another database while this process used it`;
  return new RookeryError("store_replaced", `${what}: restore the file if you can, then start rookery again`);
}

function toFileTruncatedError(path: string): RookeryError {
  const what = `${path} was truncated while this process used it, so saved events are missing`;
  return new RookeryError(
    "store_corrupt",
    `${what}: stop every rookery, then restore a copy or try rookery doctor --repair`,
  );
}

/** For a file whose content was replaced in place, such as by copying a backup over it. */
export function toContentReplacedError(path: string): RookeryError {
  const what = `${path} has lost events that this process has already seen, because an older copy overwrote it`;
  return new RookeryError("store_replaced", `${what}: restore the newer file if you can, then start rookery again`);
}
