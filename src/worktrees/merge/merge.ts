/** Merges a branch into another one: prepares the commit, runs the gate on it, then moves the branch in one step. */
import type { MergeHow, MergeReport } from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import type { Repository } from "../repository.ts";
import { runCommand } from "../run-command.ts";
import { readBranches, type Branches } from "./branches.ts";
import { findBranchCheckout } from "./checkouts.ts";
import { combineBranches } from "./combine.ts";
import { findLocalChanges } from "./local-changes.ts";
import { publishMerge, type Publication } from "./publish.ts";
import { openScratchCheckout } from "./scratch.ts";

export interface MergeOptions {
  readonly branch: string;
  readonly into: string;
  readonly how: MergeHow;
  /** Message of the new commit. Commits that a rebase replays keep theirs. */
  readonly message: string;
  readonly gate?: MergeGate | undefined;
  /** Identifies the owner of temporary checkouts and processes. */
  readonly marker: string;
  /** Awaited before the branch moves. After a crash, `wasPublished` tells whether this commit was published. */
  onPrepared?(commit: string): Promise<void>;
  /** Commit that an interrupted run prepared for the same merge. If it was published, the merge is done. */
  readonly earlier?: string | undefined;
  /** The remote that has the target branch. Default: the branch of this repository and its checkout. */
  readonly remote?: MergeRemote | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A remote whose branch is merged into. */
export interface MergeRemote {
  /** The ref of this repository that has the target branch as it was last fetched. */
  readonly ref: string;
  /** Fetches the target branch. Rejects with `remote_unreachable`. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Moves the branch of the remote if it still has the commit `from`. Rejects with `remote_unreachable` or `remote_refused`. */
  publish(publication: Publication): Promise<"published" | "moved">;
}

/** A command that must succeed in a checkout of the merged commit. */
export interface MergeGate {
  readonly command: string;
  readonly timeoutMs: number;
  readonly env: EnvironmentVariables;
  onOutput(text: string): void;
}

/** Attempts if the target branch keeps moving. */
const MAX_ATTEMPTS = 5;

type Report = Omit<MergeReport, "how" | "into" | "dryRun">;

/**
 * Call it inside `runInMergeQueue`. Rejects with `base_not_found`, `input_invalid`, `identity_missing`, `checkout_dirty`,
 * `repository_locked`, `disk_full` or `remote_refused`, and then changes neither the branch nor its checkout. After
 * `remote_unreachable`, the remote may have the last prepared commit: pass it as `earlier` to the next call.
 */
export async function mergeBranch(repository: Repository, options: MergeOptions): Promise<MergeReport> {
  const { how, into, signal } = options;
  await repository.requireIdentity();
  const prepared = options.earlier === undefined ? [] : [options.earlier];
  const onPrepared = async (commit: string): Promise<void> => {
    prepared.push(commit);
    await options.onPrepared?.(commit);
  };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    signal?.throwIfAborted();
    await options.remote?.refresh(signal);
    const branches = await readBranches(repository, { ...options, intoRef: options.remote?.ref }, signal);
    const report =
      (await findEarlierMerge(repository, options, prepared)) ??
      (await attemptMerge(repository, branches, { ...options, onPrepared }));
    if (report !== undefined) return { ...report, how, into, dryRun: false };
  }
  const message = `${into} moved ${MAX_ATTEMPTS} times during the merge; try again later`;
  return { outcome: "failed", how, into, dryRun: false, conflicts: [], commits: 0, message };
}

interface PublishedCommit {
  readonly into: string;
  readonly commit: string;
  /** Where this repository has the branch `into`. Default: as its own branch. */
  readonly ref?: string | undefined;
}

/** True if the branch `into` contains the commit. */
export async function wasPublished(
  repository: Repository,
  { into, commit, ref = `refs/heads/${into}` }: PublishedCommit,
): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", "--end-of-options", commit, ref];
  return (await repository.gitTry(args)).code === 0;
}

async function findEarlierMerge(
  repository: Repository,
  { into, remote }: MergeOptions,
  prepared: readonly string[],
): Promise<Report | undefined> {
  for (const commit of prepared) {
    const published = await wasPublished(repository, { into, commit, ref: remote?.ref });
    if (published) return { outcome: "merged", commit, conflicts: [], commits: 0 };
  }
  return undefined;
}

/** Returns undefined if the target branch moved in the meantime. */
async function attemptMerge(
  repository: Repository,
  branches: Branches,
  options: MergeOptions,
): Promise<Report | undefined> {
  const { how, message, gate, remote, signal } = options;
  const checkout = remote === undefined ? await findBranchCheckout(repository, branches.ref, signal) : undefined;
  const combined = await combineBranches(repository, branches, { how, message, cwd: checkout, signal });
  if (combined.outcome !== "merged") return { conflicts: [], ...combined };
  const { commit, commits } = combined;
  const publication = { ref: branches.ref, from: branches.into, to: commit };
  if (gate !== undefined) {
    const dirty = checkout && (await findLocalChanges(repository, { ...publication, checkout, signal }));
    if (dirty) throw dirty;
    const refusal = await runGate(repository, commit, gate, options);
    if (refusal !== undefined) return { outcome: "gate_failed", conflicts: [], commits, message: refusal };
  }
  await options.onPrepared?.(commit);
  signal?.throwIfAborted();
  const published = await (remote?.publish(publication) ?? publishMerge(repository, publication));
  if (published === "moved") return undefined;
  return { outcome: "merged", commit, conflicts: [], commits };
}

/** Returns why the gate failed, or undefined if it passed. */
async function runGate(
  repository: Repository,
  commit: string,
  gate: MergeGate,
  { marker, signal }: MergeOptions,
): Promise<string | undefined> {
  const { command, timeoutMs } = gate;
  await using scratch = await openScratchCheckout(repository, { commit, marker, signal });
  const ran = await runCommand({
    command,
    cwd: scratch.path,
    env: gate.env,
    marker,
    timeoutMs,
    onOutput: (text) => gate.onOutput(text),
    signal,
  });
  signal?.throwIfAborted();
  if (ran.exitCode === 0 && !ran.timedOut) return undefined;
  const how = ran.timedOut
    ? `did not finish within ${Math.round(timeoutMs / 1000)} seconds`
    : ran.exitCode === null
      ? "was killed"
      : `failed with exit code ${ran.exitCode}`;
  const output = ran.tail.trim();
  return `the gate \`${command}\` ${how}${output === "" ? "" : `: ${output}`}`;
}
