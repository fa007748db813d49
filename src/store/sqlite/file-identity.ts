/** Detects deleted or replaced database files. The system accepts writes to a deleted file, but they are lost. */
import { statSync, type BigIntStats } from "node:fs";
import { RookeryError } from "../../domain/index.ts";

/** SQLite keeps `-wal` and `-shm` while a connection is open. A new file means that others write elsewhere. */
const SUFFIXES = ["", "-wal", "-shm"] as const;

export class FileIdentity {
  readonly #path: string;
  readonly #known = new Map<string, string>();

  /** Create this after the file is open. */
  constructor(path: string) {
    this.#path = path;
    for (const suffix of SUFFIXES) this.#remember(suffix, readFileIdentity(path + suffix));
  }

  /** Throws `store_replaced` if a file was deleted, moved or replaced. Takes a few microseconds. */
  check(): void {
    for (const suffix of SUFFIXES) {
      const found = readFileIdentity(this.#path + suffix);
      const known = this.#known.get(suffix);
      if (known === undefined) this.#remember(suffix, found);
      else if (found !== known)
        throw toFileReplacedError(this.#path, suffix, found === undefined ? "deleted" : "replaced");
    }
  }

  #remember(suffix: string, identity: string | undefined): void {
    if (identity !== undefined) this.#known.set(suffix, identity);
  }
}

function readFileIdentity(path: string): string | undefined {
  try {
    const stats: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
  } catch {
    return undefined; // a parent folder is missing or not accessible
  }
}

function toFileReplacedError(path: string, suffix: string, how: string): RookeryError {
  const what = `${path}${suffix} was ${how} while this process used it, so new events would be lost`;
  return new RookeryError("store_replaced", `${what}: restore the file if you can, then start rookery again`);
}

/** For a file whose content was replaced in place, such as by copying a backup over it. */
export function toContentReplacedError(path: string): RookeryError {
  const what = `${path} has lost events that this process has already seen, because an older copy overwrote it`;
  return new RookeryError("store_replaced", `${what}: restore the newer file if you can, then start rookery again`);
}
