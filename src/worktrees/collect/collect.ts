/** Removes what was found to be clean, merged and unused: the oldest first, until the rest keeps to the quota. */
import { messageOf, type CollectReport } from "../../domain/index.ts";
import { removeWorktree } from "../remove.ts";
import type { Repository } from "../repository.ts";
import type { ExaminedWorktree } from "./examine.ts";

export interface CollectOptions {
  readonly dryRun: boolean;
  /** Bytes that all together may have; everything that may go goes where it is 0 or not said. */
  readonly quota?: number | undefined;
  onProgress?(text: string): void;
  readonly signal?: AbortSignal | undefined;
}

/** One that cannot be removed after all is kept, and says why; so is one that has got something to lose meanwhile. */
export async function collectWorktrees(
  repository: Repository,
  examined: readonly ExaminedWorktree[],
  options: CollectOptions,
): Promise<CollectReport> {
  const { dryRun, quota = 0, signal } = options;
  const total = examined.reduce((sum, { bytes }) => sum + bytes, 0);
  const mayGo = examined.filter(({ why }) => why === undefined).sort((a, b) => a.lastUsed - b.lastUsed);
  const removed: ReportEntry[] = [];
  const kept: (ReportEntry & { why: string })[] = [];
  let freed = 0;
  for (const one of mayGo) {
    signal?.throwIfAborted();
    if (quota > 0 && total - freed <= quota) {
      kept.push({ ...toReportEntry(one), why: "it could go, but there is room" });
      continue;
    }
    const why = dryRun ? undefined : await tryRemove(repository, one, options);
    if (why === undefined) {
      removed.push(toReportEntry(one));
      freed += one.bytes;
    } else kept.push({ ...toReportEntry(one), why });
  }
  for (const one of examined) if (one.why !== undefined) kept.push({ ...toReportEntry(one), why: one.why });
  return { dryRun, removed, kept, freed, left: total - freed };
}

interface ReportEntry {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
}

function toReportEntry({ id, path, bytes }: ExaminedWorktree): ReportEntry {
  return { id, path, bytes };
}

/** Why it could not be, if it could not. It is looked at once more, since someone may have worked in it meanwhile. */
async function tryRemove(repository: Repository, one: ExaminedWorktree, options: CollectOptions): Promise<string | undefined> {
  const { worktree, into, mergedTip } = one;
  if (worktree === undefined) return "it was not looked at";
  options.onProgress?.(`removing ${one.path}`);
  try {
    await removeWorktree(repository, worktree, { force: false, into, mergedTip });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
