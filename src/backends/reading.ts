/** Classifies tool kinds that only read. */
import type { ToolKind } from "../domain/index.ts";

const READING: ReadonlySet<ToolKind> = new Set(["read", "search", "think"]);

/** Whether a call of this kind counts as read-only for permissions. */
export function isReading(kind: ToolKind): boolean {
  return READING.has(kind);
}
