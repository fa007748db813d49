/** Removes clean, merged and unused worktrees, oldest first, until the rest fits the quota. */
import { messageOf, type CollectReport } from "../../domain/index.ts";
import { removeWorktree } from "../remove.ts";
import type { Repository } from "../repository.ts";
import type { ExaminedWorktree } from "./examined.ts";

export interface CollectOptions {
  readonly dryRun: boolean;
  /** Bytes that all worktrees together may use. Default: 0, which removes every worktree that can be removed. */
  readonly quota?: number | undefined;
  onProgress?(text: string): void;
  readonly signal?: AbortSignal | undefined;
}

/** Reports a worktree as kept if its removal fails, or if it has unsaved work by now. */
export async function collectWorktrees(
  repository: Repository,
  examined: readonly ExaminedWorktree[],
  options: CollectOptions,
): Promise<CollectReport> {
  const { dryRun, quota = 0, signal } = options;
  const total = examined.reduce((sum, { bytes }) => sum + bytes, 0);
  const removable = examined.filter(({ why }) => why === undefined).sort((a, b) => a.lastUsed - b.lastUsed);
  const removed: ReportEntry[] = [];
  const kept: (ReportEntry & { why: string })[] = [];
  let freed = 0;
  for (const one of removable) {
    signal?.throwIfAborted();
    if (quota > 0 && total - freed <= quota) {
      kept.push({ ...toReportEntry(one), why: "it could be removed, but the quota is not used up" });
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

/** Returns why the removal failed, or undefined. The removal checks again, since someone may have used the worktree. */
async function tryRemove(
  repository: Repository,
  one: ExaminedWorktree,
  options: CollectOptions,
): Promise<string | undefined> {
  const { worktree, into, mergedTip } = one;
  if (worktree === undefined) return "it was not examined";
  options.onProgress?.(`removing ${one.path}`);
  try {
    await removeWorktree(repository, worktree, { force: false, into, mergedTip });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
