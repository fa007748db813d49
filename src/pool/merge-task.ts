/** Merges the branch of a task, one at a time per repository. Each step is logged first, so that another process can finish it. */
import {
  isRookeryError,
  messageOf,
  newId,
  RookeryError,
  type MergeHow,
  type MergeReport,
  type TaskState,
} from "../domain/index.ts";
import { openMergeRemote, runInMergeQueue, mergeBranch, wasPublished, type Repository } from "../worktrees/index.ts";
import { commandEnvironment } from "./command-environment.ts";
import { openOutputRecorder } from "./output.ts";
import type { PoolParts, TaskRepository } from "./parts.ts";
import { retryUntilReachable } from "./remote/wait-for-remote.ts";
import type { TaskWriter } from "./task-writer.ts";
import { isLogFailure } from "./run-end.ts";

const GATE_TIMEOUT_MS = 30 * 60 * 1000;

export interface MergeContext extends TaskRepository {
  readonly parts: PoolParts;
  readonly writer: TaskWriter;
  readonly signal: AbortSignal;
  /**
   * What to do if the remote is unreachable: wait, or reject with `remote_unreachable` and leave the merge to
   * `finishAbandonedMerges`. Default: wait.
   */
  readonly unreachable?: "wait" | "reject" | undefined;
}

export interface MergeSettings {
  readonly how: MergeHow;
  readonly into: string;
  readonly gate?: string | undefined;
  readonly message?: string | undefined;
}

/** Returns the branch to merge into. Rejects with `input_invalid` if the task did not start from a branch and none is given. */
export async function resolveMergeTarget(
  { repository, mirror }: TaskRepository,
  { id, worktree }: TaskState,
  given?: string,
): Promise<string> {
  if (given !== undefined) return given;
  const base = worktree?.base ?? "";
  if (mirror !== undefined) return base.startsWith("origin/") ? base.slice("origin/".length) : mirror.defaultBranch;
  const branch = base === "" ? undefined : (await repository.resolve(base).catch(() => undefined))?.branch;
  if (branch !== undefined) return branch;
  throw new RookeryError(
    "input_invalid",
    `task ${id} did not start from a branch; choose the branch to merge into with --into`,
  );
}

/** Records the request before it merges. If an earlier merge is unfinished, finishes that one instead. */
export async function mergeTask(merging: MergeContext, wanted: MergeSettings): Promise<MergeReport> {
  const { writer } = merging;
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
  return runMerge(merging, mergeId, wanted);
}

/** Merges when it is the turn of this task, and again while the remote is unreachable. */
async function runMerge(
  merging: MergeContext,
  mergeId: string,
  settings: MergeSettings & { readonly earlier?: string | undefined },
): Promise<MergeReport> {
  const { writer, repository, signal, unreachable = "wait" } = merging;
  let hasFailed = false;
  const work = (): Promise<MergeReport> => {
    const earlier = hasFailed ? writer.state.merge?.commit : settings.earlier; // the remote may have what the last attempt pushed
    return runInMergeQueue(repository, () => mergeNow(merging, mergeId, { ...settings, earlier }), { signal });
  };
  return retryUntilReachable(work, {
    signal,
    onWait: async (error) => {
      const { code, message } = error;
      const isKnown = hasFailed || writer.state.merge?.why === message;
      if (!isKnown) await writer.write({ type: "merge.waiting", mergeId, code, message });
      hasFailed = true;
      if (unreachable === "reject") {
        throw new RookeryError("remote_unreachable", formatUnreachable(writer.state, message), { cause: error });
      }
    },
  });
}

function formatUnreachable({ id, merge }: TaskState, message: string): string {
  return `task ${id} is not merged into ${merge?.into ?? "its base"} yet: ${message}; a process that runs tasks will try again`;
}

/**
 * Returns the report of an earlier merge if the branch has not changed since. This happens if a caller repeats the
 * request, or if a process died before it recorded the end of its stage. A second merge would report `nothing`, which
 * would hide that the work is merged.
 */
async function findEarlierMerge(
  { writer, repository, mirror }: MergeContext,
  { into }: MergeSettings,
): Promise<MergeReport | undefined> {
  const { merge: before } = writer.state;
  if (before?.outcome !== "merged" || before.into !== into || before.commit === undefined) return undefined;
  const { how, tip, commit } = before;
  const isSame =
    tip === (await branchTip(repository, writer.state)) &&
    (await wasPublished(repository, { into, commit, ref: mirror && openMergeRemote(mirror, into).ref }));
  if (!isSame) return undefined;
  return { outcome: "merged", how, into, dryRun: false, commit, conflicts: [], commits: 0, already: true };
}

/** Finishes a merge whose process died, unless it was already published. Resolves with undefined if there was none. */
export async function settleMerge(merging: MergeContext): Promise<MergeReport | undefined> {
  const { writer, repository, mirror } = merging;
  const left = writer.state.merge;
  if (left === undefined || !isMerging(writer.state)) return undefined;
  const done = mirror === undefined ? await recordIfPublished(writer, { repository }) : undefined; // the merge asks the remote
  return done ?? runMerge(merging, left.mergeId, { ...left, earlier: left.commit });
}

/** Records an unfinished merge as failed, or as merged if it was already published. */
export async function withdrawMerge(
  writer: TaskWriter,
  opened: TaskRepository | undefined,
  why: string,
): Promise<void> {
  const { merge: left } = writer.state;
  if (left === undefined || !isMerging(writer.state)) return;
  let message = `not merged: ${why}`;
  try {
    if (opened !== undefined && (await recordIfPublished(writer, opened)) !== undefined) return;
  } catch (error) {
    if (!isRookeryError(error, "remote_unreachable")) throw error;
    message = `${message}; it is unknown whether the remote has ${left.commit ?? "the merge"}: ${error.message}`;
  }
  await writer.write({ type: "merge.ended", mergeId: left.mergeId, outcome: "failed", message });
}

export function isMerging({ merge: left }: TaskState): boolean {
  return left !== undefined && left.outcome === undefined;
}

/** How long to ask a remote before a merge is withdrawn. */
const ASK_MS = 10_000;

/** Rejects with `remote_unreachable`. */
async function recordIfPublished(
  writer: TaskWriter,
  { repository, mirror }: TaskRepository,
): Promise<MergeReport | undefined> {
  const { mergeId = "", how = "merge", into = "", commit, tip } = writer.state.merge ?? {};
  if (commit === undefined) return undefined;
  await mirror?.fetchBranch(into, { timeoutMs: ASK_MS });
  const ref = mirror && openMergeRemote(mirror, into).ref;
  if (!(await wasPublished(repository, { into, commit, ref }))) return undefined;
  const merged = tip !== undefined && { tip }; // later commits of the branch are not merged
  await writer.write({ type: "merge.ended", mergeId, outcome: "merged", commit, ...merged });
  return { outcome: "merged", how, into, dryRun: false, commit, conflicts: [], commits: 0 };
}

async function mergeNow(
  merging: MergeContext,
  mergeId: string,
  { how, into, gate, message, earlier }: MergeSettings & { readonly earlier?: string | undefined },
): Promise<MergeReport> {
  const { parts, writer, repository, mirror, signal } = merging;
  const { id, spec, worktree } = writer.state;
  const branch = worktree?.branch ?? "";
  await using output = openOutputRecorder(writer, "gate");
  const gated = gate !== undefined && {
    gate: {
      command: gate,
      timeoutMs: GATE_TIMEOUT_MS,
      env: await commandEnvironment(parts, repository.root, {
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
      remote: mirror && openMergeRemote(mirror, into),
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
    if (!isLogFailure(error) && !isRookeryError(error, "remote_unreachable")) {
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
