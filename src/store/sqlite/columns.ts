/**
 * Columns as they are selected and decoded. A damaged file can hold anything in any column, and libsql 0.5.29 aborts
 * the process on text that is not UTF-8. Queries therefore select text as bytes and check the type of numbers.
 */
import { isUtf8 } from "node:buffer";
import { RookeryError } from "../../domain/index.ts";
import type { Cell } from "./database.ts";

/** SQL for a text column or expression. Decode the result with `decodeText` or `decodeJson`. */
export function textColumn(expression: string): string {
  return `cast(${expression} as blob)`;
}

/** SQL for a number column. The result is null if the column holds something else. Decode it with `decodeNumber`. */
export function numberColumn(expression: string): string {
  return `iif(typeof(${expression}) in ('integer', 'real'), ${expression}, null)`;
}

/** Undefined if the cell is no text, or text that is not UTF-8. */
export function decodeText(cell: Cell | undefined): string | undefined {
  if (!(cell instanceof Uint8Array) || !isUtf8(cell)) return undefined;
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString("utf8");
}

/** Undefined if the cell is no number. */
export function decodeNumber(cell: Cell | undefined): number | undefined {
  return typeof cell === "number" ? cell : undefined;
}

/** Undefined if the cell is not the text of a JSON value that passes the check. */
export function decodeJson<T>(cell: Cell | undefined, check: (value: unknown) => value is T): T | undefined {
  const text = decodeText(cell);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    return check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const DAMAGE_ADVICE =
  "save the rest with `rookery doctor --repair`, or restore a copy; until then, everything else in it can be used";

/** The error for a damaged part of the file, such as "the summary of session X". */
export function damageIn(path: string, what: string): RookeryError {
  return new RookeryError("log_corrupt", `${what} is damaged in ${path}: ${DAMAGE_ADVICE}`);
}
