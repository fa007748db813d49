/** The room on a terminal; one that does not know its size says 0. */
import type { Output } from "../io.ts";

export function sizeOf({ columns = 0, rows = 0 }: Output): { readonly width: number; readonly height: number } {
  return { width: columns > 0 ? columns : 80, height: rows > 0 ? rows : 24 };
}
