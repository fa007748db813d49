/** Whether the files of an open database are still the ones at its path: a file without a name keeps taking writes. */
import { statSync, type BigIntStats } from "node:fs";
import { RookeryError } from "../../domain/index.ts";

/** SQLite keeps the last two for as long as a connection is open: a new one means that others write elsewhere. */
const SUFFIXES = ["", "-wal", "-shm"] as const;

export class FileIdentity {
  readonly #path: string;
  readonly #known = new Map<string, string>();

  /** Call this once the file is open. */
  constructor(path: string) {
    this.#path = path;
    for (const suffix of SUFFIXES) this.#remember(suffix, identityOf(path + suffix));
  }

  /** Throws `store_replaced` if a file was deleted, moved or replaced. Costs some microseconds. */
  check(): void {
    for (const suffix of SUFFIXES) {
      const found = identityOf(this.#path + suffix);
      const known = this.#known.get(suffix);
      if (known === undefined) this.#remember(suffix, found);
      else if (found !== known) throw replaced(this.#path, suffix, found === undefined ? "deleted" : "replaced");
    }
  }

  #remember(suffix: string, identity: string | undefined): void {
    if (identity !== undefined) this.#known.set(suffix, identity);
  }
}

function identityOf(path: string): string | undefined {
  try {
    const stats: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
  } catch {
    return undefined; // a folder above it is gone, or may not be entered any more
  }
}

function replaced(path: string, suffix: string, how: string): RookeryError {
  const what = `${path}${suffix} was ${how} while this process used it, so what it writes would be lost`;
  return new RookeryError("store_replaced", `${what}: put the file back if you have it, then start rookery again`);
}

/** The file is the same, and what is in it is not: a backup was copied over it, for example. */
export function contentReplaced(path: string): RookeryError {
  const what = `${path} has lost events that this process has seen in it: an older copy was written over it`;
  return new RookeryError(
    "store_replaced",
    `${what}; put the newer file back if you have it, then start rookery again`,
  );
}
