/** Classifies tool kinds that only read. */
import type { ToolKind } from "../domain/index.ts";

const READ_ONLY_KINDS: ReadonlySet<ToolKind> = new Set(["read", "search", "think"]);

/** Whether a call of this kind counts as read-only for permissions. */
export function isReadOnlyKind(kind: ToolKind): boolean {
  return READ_ONLY_KINDS.has(kind);
}
