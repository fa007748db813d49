/** The rows that a copy transfers for each table, in a form that does not depend on the database. */
import { createHash } from "node:crypto";

/** In the order in which they are written. The tables of dependencies and deleted logs are computed from these. */
export const COPIED_TABLES = [
  "task",
  "session",
  "event",
  "append",
  "lease",
  "journal",
  "blob",
  "request",
  "feed",
] as const;

export type CopiedTable = (typeof COPIED_TABLES)[number];

export type CopiedCell = string | number | boolean | null | Uint8Array;

/** The cells of a row, in the order of `COPIED_COLUMNS`. */
export type CopiedRow = readonly CopiedCell[];

/**
 * The columns that a copy transfers. Other columns are computed from the summary or the state. `log` is the number of a
 * session, or the negated number of a task.
 */
export const COPIED_COLUMNS = {
  task: ["no", "id", "state"],
  session: ["no", "id", "summary", "task"],
  event: ["log", "seq", "body"],
  append: ["log", "id", "head"],
  lease: ["session_id", "owner", "generation", "until", "released"],
  journal: ["log", "turn", "step", "kind", "id", "finished", "value"],
  blob: ["hash", "bytes"],
  request: ["key", "digest", "at", "log", "id", "seq", "response"],
  feed: ["through", "log", "whose", "head", "events"],
} as const satisfies Record<CopiedTable, readonly string[]>;

/** The limits of one page of rows. A single row may be larger. */
export const MAX_COPIED_ROWS = 1_000;
export const MAX_COPIED_BYTES = 4 * 1024 * 1024;

/** How many rows of these sizes fit into a page. At least one. */
export function countFittingRows(sizes: readonly number[]): number {
  let bytes = 0;
  const over = sizes.findIndex((size, index) => (bytes += size) > MAX_COPIED_BYTES && index > 0);
  return over === -1 ? sizes.length : over;
}

/** Counts rows and computes a digest of them that does not depend on their order. */
export class RowDigest {
  count = 0;
  #sum = 0n;

  add(rows: readonly CopiedRow[]): void {
    for (const row of rows) {
      const hash = createHash("sha256");
      for (const cell of row) {
        const bytes = cell instanceof Uint8Array ? cell : Buffer.from(String(cell));
        hash.update(`${typeof cell} ${bytes.length} `).update(bytes);
      }
      this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash.digest("hex")}`));
      this.count += 1;
    }
  }

  equals(other: RowDigest): boolean {
    return this.count === other.count && this.#sum === other.#sum;
  }
}
