/** Moves a branch to what was made of it, if it is still what that was made from, and brings its checkout along. */
import { RookeryError } from "../../domain/index.ts";
import { toGitError } from "../failure.ts";
import type { GitResult } from "../git.ts";
import type { Repository } from "../repository.ts";
import { findBranchCheckout } from "./checkouts.ts";

export interface Publication {
  /** `refs/heads/…`. */
  readonly ref: string;
  readonly from: string;
  readonly to: string;
}

/**
 * `moved`: the branch is something else meanwhile, and nothing was changed. Rejects with `checkout_dirty` where files
 * would have to change that the user has changed too; nothing was changed then either.
 *
 * One process of git does all of it. It carries no owner's marker, and no signal ends it: whoever comes after a killed
 * owner would otherwise end it half-way, and so leave a checkout between two states.
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
 * Checks everything before it writes anything. Ignored files are the user's too. What the user's own settings may add to
 * a merge (options of the branch, stashing what is not committed, signatures, submodules) is taken away.
 */
function fastForwardArguments(ref: string, commit: string): readonly string[] {
  const ofBranch = `${ref.replace(/^refs\/heads\//, "branch.")}.mergeOptions`;
  const own = ofBranch.includes("=") ? [] : ["-c", `${ofBranch}=`]; // git cannot be told of a name with that in it
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
        `something is under way in ${checkout}, so it was left alone: ${failure.message}`,
      )
    : failure;
}

/** In the moment between looking at it and git's own look. */
function checkoutSwitchedError(checkout: string, ref: string): RookeryError {
  return new RookeryError(
    "checkout_dirty",
    `${checkout} was switched from ${ref} while it was merged into; see git reflog there, then merge again`,
  );
}

export function checkoutDirtyError(checkout: string, ref: string, files: readonly string[]): RookeryError {
  const branch = ref.replace(/^refs\/heads\//, "");
  const more = files.length > MAX_NAMES ? ` and ${files.length - MAX_NAMES} more` : "";
  return new RookeryError(
    "checkout_dirty",
    `${branch} is checked out in ${checkout}, where this merge would write over ${files.slice(0, MAX_NAMES).join(", ")}${more}; ` +
      "commit, stash or move that away, then merge again",
  );
}
