/**
 * Selects and decodes columns safely. A damaged file can hold any value in any column, and libsql 0.5.29 aborts the
 * process on invalid UTF-8. Queries therefore select text as bytes and check the type of numbers.
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

/** Undefined if the cell is not text, or is not valid UTF-8. */
export function decodeText(cell: Cell | undefined): string | undefined {
  if (!(cell instanceof Uint8Array) || !isUtf8(cell)) return undefined;
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString("utf8");
}

/** Undefined if the cell is not a number. */
export function decodeNumber(cell: Cell | undefined): number | undefined {
  return typeof cell === "number" ? cell : undefined;
}

/** Undefined if the cell is not valid JSON or the value fails the check. */
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
  "recover the rest with `rookery doctor --repair`, or restore a backup; the undamaged data stays usable";

/** A `log_corrupt` error for a damaged part of the file, such as "the summary of session X". */
export function toDamageError(path: string, what: string): RookeryError {
  return new RookeryError("log_corrupt", `${what} is damaged in ${path}: ${DAMAGE_ADVICE}`);
}
