/** Merging a task's branch, one at a time per repository, so that whoever finds it half done knows how far it came. */
import { messageOf, newId, RookeryError, type MergeHow, type MergeReport, type TaskState } from "../domain/index.ts";
import { inMergeQueue, merge, wasPublished, type Repository } from "../worktrees/index.ts";
import { commandEnvironment } from "./command-environment.ts";
import { outputTo } from "./output.ts";
import type { PoolParts } from "./parts.ts";
import type { Pen } from "./pen.ts";
import { isLogFailure } from "./reasons.ts";

const GATE_TIMEOUT_MS = 30 * 60 * 1000;

export interface Merging {
  readonly parts: PoolParts;
  readonly pen: Pen;
  readonly repository: Repository;
  readonly signal: AbortSignal;
}

export interface Wanted {
  readonly how: MergeHow;
  readonly into: string;
  readonly gate?: string | undefined;
  readonly message?: string | undefined;
}

/** The branch to merge into. Rejects with `input_invalid` where the task did not begin from one and none is given. */
export async function targetOf(repository: Repository, { id, worktree }: TaskState, given?: string): Promise<string> {
  if (given !== undefined) return given;
  const base = worktree?.base ?? "";
  const branch = base === "" ? undefined : (await repository.resolve(base).catch(() => undefined))?.branch;
  if (branch !== undefined) return branch;
  throw new RookeryError(
    "input_invalid",
    `task ${id} did not begin from a branch: say which to merge into, with --into`,
  );
}

/** Asked in the log first; a merge that was asked before and not finished is finished instead. */
export async function mergeTask(merging: Merging, wanted: Wanted): Promise<MergeReport> {
  const { pen, repository, signal } = merging;
  const settled = (await settleMerge(merging)) ?? (await mergedBefore(merging, wanted));
  if (settled !== undefined) return settled;
  const mergeId = newId("mrg");
  const { how, into, gate, message } = wanted;
  await pen.write({
    type: "merge.asked",
    mergeId,
    how,
    into,
    ...(gate !== undefined && { gate }),
    ...(message !== undefined && { message }),
  });
  return inMergeQueue(repository, () => mergeNow(merging, mergeId, wanted), { signal });
}

/**
 * The branch is what it was when it was merged: whoever asks again, or died before noting that a stage was over, is told
 * so. Merged once more it would count as nothing, and nobody would know any more what of it is safe.
 */
async function mergedBefore({ pen, repository }: Merging, { into }: Wanted): Promise<MergeReport | undefined> {
  const { merge: before } = pen.state;
  if (before?.outcome !== "merged" || before.into !== into || before.commit === undefined) return undefined;
  const { how, tip, commit } = before;
  const isSame = tip === (await tipOf(repository, pen.state)) && (await wasPublished(repository, { into, commit }));
  return isSame ? { outcome: "merged", how, into, dryRun: false, commit, conflicts: [], commits: 0 } : undefined;
}

/** A merge that was under way when its process died: it was done, it is done now, or undefined where none was. */
export async function settleMerge(merging: Merging): Promise<MergeReport | undefined> {
  const { pen, repository, signal } = merging;
  const left = pen.state.merge;
  if (left === undefined || !isMerging(pen.state)) return undefined;
  const done = await noteIfDone(pen, repository);
  return (
    done ??
    inMergeQueue(repository, () => mergeNow(merging, left.mergeId, { ...left, earlier: left.commit }), { signal })
  );
}

/** Nobody wants it any more: a merge that was under way is not done, unless it was before. */
export async function withdrawMerge(pen: Pen, repository: Repository | undefined, why: string): Promise<void> {
  const { merge: left } = pen.state;
  if (left === undefined || !isMerging(pen.state)) return;
  if (repository !== undefined && (await noteIfDone(pen, repository)) !== undefined) return;
  await pen.write({ type: "merge.ended", mergeId: left.mergeId, outcome: "failed", message: `not merged: ${why}` });
}

export function isMerging({ merge: left }: TaskState): boolean {
  return left !== undefined && left.outcome === undefined;
}

async function noteIfDone(pen: Pen, repository: Repository): Promise<MergeReport | undefined> {
  const { mergeId = "", how = "merge", into = "", commit, tip } = pen.state.merge ?? {};
  if (commit === undefined || !(await wasPublished(repository, { into, commit }))) return undefined;
  const merged = tip !== undefined && { tip }; // what the branch has got since is not merged
  await pen.write({ type: "merge.ended", mergeId, outcome: "merged", commit, ...merged });
  return { outcome: "merged", how, into, dryRun: false, commit, conflicts: [], commits: 0 };
}

async function mergeNow(
  merging: Merging,
  mergeId: string,
  { how, into, gate, message, earlier }: Wanted & { readonly earlier?: string | undefined },
): Promise<MergeReport> {
  const { parts, pen, repository, signal } = merging;
  const { id, spec, worktree } = pen.state;
  const branch = worktree?.branch ?? "";
  await using output = outputTo(pen, "gate");
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
    const tip = await tipOf(repository, pen.state);
    const report = await merge(repository, {
      branch,
      into,
      how,
      message: message ?? messageFor(how, id, spec.title),
      ...gated,
      marker: parts.claim(),
      earlier,
      prepared: async (commit) => {
        await pen.write({ type: "merge.prepared", mergeId, commit, tip });
      },
      signal,
    });
    await output[Symbol.asyncDispose]();
    const { outcome, commit, conflicts, message: said } = report;
    await pen.write({
      type: "merge.ended",
      mergeId,
      outcome,
      tip: commit !== undefined && commit === earlier ? pen.state.merge?.tip : tip,
      ...(commit !== undefined && { commit }),
      ...(conflicts.length > 0 && { conflicts: [...conflicts] }),
      ...(said !== undefined && { message: said }),
    });
    return report;
  } catch (error) {
    if (signal.aborted) throw error; // whoever comes next goes on with it
    if (!isLogFailure(error)) {
      await pen.write({ type: "merge.ended", mergeId, outcome: "failed", message: messageOf(error) });
    }
    throw error;
  }
}

function messageFor(how: MergeHow, id: string, title: string): string {
  return how === "merge" ? `Merge task ${id}: ${title}` : `${title}\n\nRookery-Task: ${id}`;
}

async function tipOf(repository: Repository, { worktree }: TaskState): Promise<string> {
  return (await repository.resolve(`refs/heads/${worktree?.branch ?? ""}`)).commit;
}
