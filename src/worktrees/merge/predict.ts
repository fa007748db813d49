/** Predicts the result of a merge without performing it. */
import type { MergeHow, MergeReport } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";
import { readBranches } from "./branches.ts";
import { findBranchCheckout } from "./checkouts.ts";
import { combineBranches } from "./combine.ts";
import { findLocalChanges } from "./local-changes.ts";

export interface PredictOptions {
  readonly branch: string;
  readonly into: string;
  readonly how: MergeHow;
  /** The ref that has the target branch of a remote. Default: the branch of this repository and its checkout. */
  readonly intoRef?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Leaves only a few unreferenced objects, which git removes later. A `message` with the outcome `merged` names the local
 * changes that the merge would overwrite. Rejects with the same errors as `mergeBranch`.
 */
export async function predictBranchMerge(repository: Repository, options: PredictOptions): Promise<MergeReport> {
  const { how, into, signal } = options;
  await repository.requireIdentity();
  const branches = await readBranches(repository, options, signal);
  const checkout =
    options.intoRef === undefined ? await findBranchCheckout(repository, branches.ref, signal) : undefined;
  const message = `Merge ${options.branch}`;
  const combined = await combineBranches(repository, branches, { how, message, cwd: checkout, signal });
  const report = { conflicts: [], ...combined, how, into, dryRun: true, commit: undefined };
  if (combined.outcome !== "merged" || checkout === undefined) return report;
  const dirty = await findLocalChanges(repository, {
    checkout,
    ref: branches.ref,
    from: branches.into,
    to: combined.commit,
  });
  return dirty === undefined ? report : { ...report, message: dirty.message };
}
