/** Opens the whole diff of a permission request in the person's pager. */
import { formatDiffs } from "../diff/format-diff.ts";
import { openPager } from "../diff/pager.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import type { ChatHost } from "./host.ts";

export async function openRequestDiff(
  { surface, io }: ChatHost,
  { diffs = [] }: PendingRequest,
  signal: AbortSignal,
): Promise<void> {
  if (diffs.length === 0) return;
  const text = `${formatDiffs(diffs, { paint: surface.paint }).join("\n")}\n`;
  await surface.lend(() => openPager(io, text, signal));
}
