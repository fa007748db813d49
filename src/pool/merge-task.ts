/** Merges the branch of a task, one at a time per repository. Each step is logged first, so that another process can finish it. */
import { messageOf, newId, RookeryError, type MergeHow, type MergeReport, type TaskState } from "../domain/index.ts";
import { runInMergeQueue, mergeBranch, wasPublished, type Repository } from "../worktrees/index.ts";
import { commandEnvironment } from "./command-environment.ts";
import { openOutputRecorder } from "./output.ts";
import type { PoolParts } from "./parts.ts";
import type { TaskWriter } from "./task-writer.ts";
import { isLogFailure } from "./run-end.ts";

const GATE_TIMEOUT_MS = 30 * 60 * 1000;

export interface MergeContext {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly repository: Repository;
  readonly signal: AbortSignal;
}

export interface MergeSettings {
  readonly how: MergeHow;
  readonly into: string;
  readonly gate?: string | undefined;
  readonly message?: string | undefined;
}

/** Returns the branch to merge into. Rejects with `input_invalid` if the task did not start from a branch and none is given. */
export async function resolveMergeTarget(
  repository: Repository,
  { id, worktree }: TaskState,
  given?: string,
): Promise<string> {
  if (given !== undefined) return given;
  const base = worktree?.base ?? "";
  const branch = base === "" ? undefined : (await repository.resolve(base).catch(() => undefined))?.branch;
  if (branch !== undefined) return branch;
  throw new RookeryError(
    "input_invalid",
    `task ${id} did not start from a branch; choose the branch to merge into with --into`,
  );
}

/** Records the request before it merges. If an earlier merge is unfinished, finishes that one instead. */
export async function mergeTask(merging: MergeContext, wanted: MergeSettings): Promise<MergeReport> {
  const { writer, repository, signal } = merging;
  const settled = (await settleMerge(merging)) ?? (await findEarlierMerge(merging, wanted));
  if (settled !== undefined) return settled;
  const mergeId = newId("mrg");
  const { how, into, gate, message } = wanted;
  await writer.write({
    type: "merge.asked",
    mergeId,
    how,
    into,
    ...(gate !== undefined && { gate }),
    ...(message !== undefined && { message }),
  });
  return runInMergeQueue(repository, () => mergeNow(merging, mergeId, wanted), { signal });
}

/**
 * Returns the report of an earlier merge if the branch has not changed since. This happens if a caller repeats the
 * request, or if a process died before it recorded the end of its stage. A second merge would report `nothing`, which
 * would hide that the work is merged.
 */
async function findEarlierMerge(
  { writer, repository }: MergeContext,
  { into }: MergeSettings,
): Promise<MergeReport | undefined> {
  const { merge: before } = writer.state;
  if (before?.outcome !== "merged" || before.into !== into || before.commit === undefined) return undefined;
  const { how, tip, commit } = before;
  const isSame =
    tip === (await branchTip(repository, writer.state)) && (await wasPublished(repository, { into, commit }));
  if (!isSame) return undefined;
  return { outcome: "merged", how, into, dryRun: false, commit, conflicts: [], commits: 0, already: true };
}

/** Finishes a merge whose process died, unless it was already published. Resolves with undefined if there was none. */
export async function settleMerge(merging: MergeContext): Promise<MergeReport | undefined> {
  const { writer, repository, signal } = merging;
  const left = writer.state.merge;
  if (left === undefined || !isMerging(writer.state)) return undefined;
  const done = await recordIfPublished(writer, repository);
  return (
    done ??
    runInMergeQueue(repository, () => mergeNow(merging, left.mergeId, { ...left, earlier: left.commit }), { signal })
  );
}

/** Records an unfinished merge as failed, or as merged if it was already published. */
export async function withdrawMerge(
  writer: TaskWriter,
  repository: Repository | undefined,
  why: string,
): Promise<void> {
  const { merge: left } = writer.state;
  if (left === undefined || !isMerging(writer.state)) return;
  if (repository !== undefined && (await recordIfPublished(writer, repository)) !== undefined) return;
  await writer.write({ type: "merge.ended", mergeId: left.mergeId, outcome: "failed", message: `not merged: ${why}` });
}

export function isMerging({ merge: left }: TaskState): boolean {
  return left !== undefined && left.outcome === undefined;
}

async function recordIfPublished(writer: TaskWriter, repository: Repository): Promise<MergeReport | undefined> {
  const { mergeId = "", how = "merge", into = "", commit, tip } = writer.state.merge ?? {};
  if (commit === undefined || !(await wasPublished(repository, { into, commit }))) return undefined;
  const merged = tip !== undefined && { tip }; // later commits of the branch are not merged
  await writer.write({ type: "merge.ended", mergeId, outcome: "merged", commit, ...merged });
  return { outcome: "merged", how, into, dryRun: false, commit, conflicts: [], commits: 0 };
}

async function mergeNow(
  merging: MergeContext,
  mergeId: string,
  { how, into, gate, message, earlier }: MergeSettings & { readonly earlier?: string | undefined },
): Promise<MergeReport> {
  const { parts, writer, repository, signal } = merging;
  const { id, spec, worktree } = writer.state;
  const branch = worktree?.branch ?? "";
  await using output = openOutputRecorder(writer, "gate");
  const gated = gate !== undefined && {
    gate: {
      command: gate,
      timeoutMs: GATE_TIMEOUT_MS,
      env: await commandEnvironment(parts, spec.repository, {
        ROOKERY_TASK: id,
        ROOKERY_BRANCH: branch,
        ROOKERY_BASE: into,
      }),
      onOutput: (text: string) => output.add(text),
    },
  };
  try {
    const tip = await branchTip(repository, writer.state);
    const report = await mergeBranch(repository, {
      branch,
      into,
      how,
      message: message ?? mergeMessage(how, id, spec.title),
      ...gated,
      marker: parts.claim(),
      earlier,
      onPrepared: async (commit) => {
        await writer.write({ type: "merge.prepared", mergeId, commit, tip });
      },
      signal,
    });
    await output[Symbol.asyncDispose]();
    const { outcome, commit, conflicts, message: said } = report;
    await writer.write({
      type: "merge.ended",
      mergeId,
      outcome,
      tip: commit !== undefined && commit === earlier ? writer.state.merge?.tip : tip,
      ...(commit !== undefined && { commit }),
      ...(conflicts.length > 0 && { conflicts: [...conflicts] }),
      ...(said !== undefined && { message: said }),
    });
    return report;
  } catch (error) {
    if (signal.aborted) throw error; // the next process finishes the merge
    if (!isLogFailure(error)) {
      await writer.write({ type: "merge.ended", mergeId, outcome: "failed", message: messageOf(error) });
    }
    throw error;
  }
}

function mergeMessage(how: MergeHow, id: string, title: string): string {
  return how === "merge" ? `Merge task ${id}: ${title}` : `${title}\n\nRookery-Task: ${id}`;
}

async function branchTip(repository: Repository, { worktree }: TaskState): Promise<string> {
  return (await repository.resolve(`refs/heads/${worktree?.branch ?? ""}`)).commit;
}
