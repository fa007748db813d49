/** Which calls of a program only read, by the kind that it gives them. */
import type { ToolKind } from "../domain/index.ts";

const READING: ReadonlySet<ToolKind> = new Set(["read", "search", "think"]);

/** A program that asks before it reads is answered as one that reads. */
export function isReading(kind: ToolKind): boolean {
  return READING.has(kind);
}
