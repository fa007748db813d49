/** Moves a branch to a prepared commit if the branch has not changed, and updates its checkout. */
import { RookeryError } from "../../domain/index.ts";
import { toGitError } from "../failure.ts";
import type { GitResult } from "../git-result.ts";
import type { Repository } from "../repository.ts";
import { findBranchCheckout } from "./checkouts.ts";

export interface Publication {
  /** `refs/heads/…`. */
  readonly ref: string;
  /** The commit that the branch must point to. */
  readonly from: string;
  /** The new commit. */
  readonly to: string;
}

/**
 * Returns `moved`, without changes, if the branch points to another commit by now. Rejects with `checkout_dirty`, without
 * changes, if the checkout has local changes to the same files.
 *
 * A single git process does the update. It has no owner marker and ignores the abort signal: killing it halfway would leave
 * the checkout between two states.
 */
export async function publishMerge(repository: Repository, publication: Publication): Promise<"published" | "moved"> {
  const { ref, from, to } = publication;
  return repository.exclusive(async () => {
    const checkout = await findBranchCheckout(repository, ref);
    if ((await readCommitId(repository, ref)) !== from) return "moved";
    const args = checkout === undefined ? ["update-ref", "-m", "merge", ref, to, from] : fastForwardArguments(ref, to);
    const at = { cwd: checkout ?? repository.root };
    const result = await repository.gitUnowned(args, at, { GIT_REFLOG_ACTION: "rookery merge" });
    const now = await readCommitId(repository, ref);
    if (now === to) return "published";
    if (now !== from) return "moved";
    if (result.code === 0) throw checkoutSwitchedError(checkout ?? repository.root, ref);
    throw await toPublishError(repository, checkout, args, result, ref);
  });
}

export async function readCommitId(repository: Repository, ref: string): Promise<string> {
  return (await repository.gitTry(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`])).stdout.trim();
}

/**
 * Arguments for a fast-forward that checks everything before it writes, and that does not overwrite ignored files. Overrides
 * the user's merge settings: options of the branch, autostash, signatures and submodules.
 */
function fastForwardArguments(ref: string, commit: string): readonly string[] {
  const key = `${ref.replace(/^refs\/heads\//, "branch.")}.mergeOptions`;
  const own = key.includes("=") ? [] : ["-c", `${key}=`]; // `git -c` cannot express a key that contains `=`
  const settings = [...own, "-c", "submodule.recurse=false", "-c", "merge.verifySignatures=false"];
  const how = ["--ff-only", "--no-squash", "--no-overwrite-ignore", "--no-autostash", "--no-stat", "--quiet"];
  return [...settings, "merge", ...how, commit];
}

const MAX_NAMES = 10;

async function toPublishError(
  repository: Repository,
  checkout: string | undefined,
  args: readonly string[],
  result: GitResult,
  ref: string,
): Promise<RookeryError> {
  const failure = await toGitError(checkout ?? repository.root, args, result);
  if (checkout === undefined) return failure;
  const files = result.stderr.split("\n").flatMap((line) => (line.startsWith("\t") ? [line.slice(1)] : []));
  if (files.length > 0) return checkoutDirtyError(checkout, ref, files);
  return /not concluded your|unmerged files|unfinished/.test(result.stderr)
    ? new RookeryError(
        "checkout_dirty",
        `a git operation is in progress in ${checkout}, so nothing was merged: ${failure.message}`,
      )
    : failure;
}

/** The user switched branches between the check and the update. */
function checkoutSwitchedError(checkout: string, ref: string): RookeryError {
  return new RookeryError(
    "checkout_dirty",
    `${checkout} switched away from ${ref} during the merge; check git reflog there, then merge again`,
  );
}

export function checkoutDirtyError(checkout: string, ref: string, files: readonly string[]): RookeryError {
  const branch = ref.replace(/^refs\/heads\//, "");
  const more = files.length > MAX_NAMES ? ` and ${files.length - MAX_NAMES} more` : "";
  return new RookeryError(
    "checkout_dirty",
    `${branch} is checked out in ${checkout}, and this merge would overwrite ${files.slice(0, MAX_NAMES).join(", ")}${more}; ` +
      "commit, stash or move these files, then merge again",
  );
}
