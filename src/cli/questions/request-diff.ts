/** Opens the whole diff of a permission request in the person's pager. */
import { formatDiffs } from "../diff/format-diff.ts";
import { openPager } from "../diff/pager.ts";
import type { Io } from "../io.ts";
import type { PendingRequest } from "../run/pending-request.ts";
import type { PromptSurface } from "../tui/prompt-surface.ts";

/** The terminal on which the request is shown. The pager gets it until it ends. */
interface DiffTerminal {
  readonly io: Io;
  readonly surface: PromptSurface;
}

/** Opens nothing if the request has no diff. */
export async function openRequestDiff(
  { io, surface }: DiffTerminal,
  { diffs = [] }: PendingRequest,
  signal: AbortSignal,
): Promise<void> {
  if (diffs.length === 0) return;
  const text = `${formatDiffs(diffs, { paint: surface.paint }).join("\n")}\n`;
  await surface.lend(() => openPager(io, text, signal));
}
