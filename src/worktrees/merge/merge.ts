/** Merges a branch into another one: made first, tried by a gate, then published at once, or not at all. */
import type { MergeHow, MergeReport } from "../../domain/index.ts";
import type { Env } from "../git.ts";
import type { Repository } from "../repository.ts";
import { runCommand } from "../run-command.ts";
import { readBranches, type Branches } from "./branches.ts";
import { findBranchCheckout } from "./checkouts.ts";
import { combineBranches } from "./combine.ts";
import { findLocalChanges } from "./local-changes.ts";
import { publishMerge } from "./publish.ts";
import { openScratchCheckout } from "./scratch.ts";

export interface MergeOptions {
  readonly branch: string;
  readonly into: string;
  readonly how: MergeHow;
  /** Of the commit that is made; those that a rebase replays keep theirs. */
  readonly message: string;
  readonly gate?: MergeGate | undefined;
  /** Whose temporary checkouts these are. */
  readonly marker: string;
  /** Awaited before the branch is moved: whoever dies after it finds out with `wasPublished` how far it came. */
  onPrepared?(commit: string): Promise<void>;
  /** What was prepared for the same merge by someone who died: if it was published after all, that was it. */
  readonly earlier?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A command that must pass on the result; it runs in a checkout of that. */
export interface MergeGate {
  readonly command: string;
  readonly timeoutMs: number;
  readonly env: Env;
  onOutput(text: string): void;
}

/** How often it is made anew because the branch moved meanwhile. */
const MAX_ATTEMPTS = 5;

type Report = Omit<MergeReport, "how" | "into" | "dryRun">;

/**
 * To be called in the queue. Rejects with `base_not_found`, `input_invalid`, `identity_missing`, `checkout_dirty`,
 * `repository_locked`, `disk_full`; the branch is as it was then, and its checkout too.
 */
export async function mergeBranch(repository: Repository, options: MergeOptions): Promise<MergeReport> {
  const { how, into, signal } = options;
  await repository.requireIdentity();
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries += 1) {
    signal?.throwIfAborted();
    const branches = await readBranches(repository, options, signal);
    const report = (await findEarlierMerge(repository, options)) ?? (await attemptMerge(repository, branches, options));
    if (report !== undefined) return { ...report, how, into, dryRun: false };
  }
  const message = `${into} moved ${MAX_ATTEMPTS} times while it was merged into; try again when it is quieter`;
  return { outcome: "failed", how, into, dryRun: false, conflicts: [], commits: 0, message };
}

/** Has the branch this commit? */
export async function wasPublished(
  repository: Repository,
  { into, commit }: { readonly into: string; readonly commit: string },
): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", "--end-of-options", commit, `refs/heads/${into}`];
  return (await repository.gitTry(args)).code === 0;
}

async function findEarlierMerge(repository: Repository, { into, earlier }: MergeOptions): Promise<Report | undefined> {
  if (earlier === undefined || !(await wasPublished(repository, { into, commit: earlier }))) return undefined;
  return { outcome: "merged", commit: earlier, conflicts: [], commits: 0 };
}

/** Undefined where the branch moved meanwhile. */
async function attemptMerge(repository: Repository, branches: Branches, options: MergeOptions): Promise<Report | undefined> {
  const { how, message, gate, signal } = options;
  const checkout = await findBranchCheckout(repository, branches.ref, signal);
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
  if ((await publishMerge(repository, publication)) === "moved") return undefined;
  return { outcome: "merged", commit, conflicts: [], commits };
}

/** Why the gate does not let it through, if it does not. */
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
    ? `did not end within ${Math.round(timeoutMs / 1000)} seconds`
    : ran.exitCode === null
      ? "was killed"
      : `exited with ${ran.exitCode}`;
  const said = ran.tail.trim();
  return `the gate \`${command}\` ${how}${said === "" ? "" : `: ${said}`}`;
}
