/** Replays the commits of a branch onto another one, like a rebase, but only as objects. */
import { RookeryError } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";
import type { Branches } from "./branches.ts";
import { writeCommit } from "./commit-object.ts";
import { mergeTrees, readTreeId } from "./trees.ts";

export type ReplayResult =
  | { readonly commit: string; readonly tree: string; readonly replayed: number; readonly merges: boolean }
  | { readonly conflicts: readonly string[]; readonly at: string };

interface PickedCommit {
  readonly commit: string;
  readonly tree: string;
  readonly parent: string | undefined;
  readonly author: string;
  readonly message: string;
}

/** Each commit needs three git processes. */
const MAX_REPLAYED = 2_000;

/** Skips commits that the target already has and commits that no longer change anything. */
export async function replayCommits(
  repository: Repository,
  branches: Pick<Branches, "branch" | "into">,
  { committer, cwd, signal }: { committer: string; cwd?: string | undefined; signal?: AbortSignal | undefined },
): Promise<ReplayResult> {
  const picked = await listCommitsToReplay(repository, branches, signal);
  const merges = await repository.git(["rev-list", "--merges", "--max-count=1", branches.branch, `^${branches.into}`], {
    signal,
  });
  let head = { commit: branches.into, tree: await readTreeId(repository, branches.into, signal) };
  let replayed = 0;
  for (const one of picked) {
    if (one.parent === head.commit) {
      head = one;
      replayed += 1;
      continue;
    }
    // Commit the current tree on top of this commit's parent, so the parent is the merge base of both sides.
    const parents = one.parent === undefined ? [] : [one.parent];
    const here = { tree: head.tree, parents, committer, message: "" };
    const side = await writeCommit(repository, here, signal);
    const merged = await mergeTrees(repository, side, one.commit, { cwd, signal });
    if ("conflicts" in merged) return { ...merged, at: one.commit };
    if (merged.tree === head.tree) continue;
    const { author, message } = one;
    const next = { tree: merged.tree, parents: [head.commit], author, committer, message };
    head = { commit: await writeCommit(repository, next, signal), tree: merged.tree };
    replayed += 1;
  }
  return { commit: head.commit, tree: head.tree, replayed, merges: merges !== "" };
}

const FIELDS = ["%H", "%T", "%P", "%an <%ae> %ad", "%B"];

/** Oldest first, without merge commits and without commits whose changes `into` already has. */
async function listCommitsToReplay(
  repository: Repository,
  { branch, into }: Pick<Branches, "branch" | "into">,
  signal?: AbortSignal,
): Promise<readonly PickedCommit[]> {
  const which = ["--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only", `${into}...${branch}`];
  const how = ["-z", "--no-color", "--no-show-signature", "--date=raw", "--encoding=UTF-8"];
  const count = Number(await repository.git(["rev-list", "--count", "--no-merges", branch, `^${into}`], { signal }));
  if (count > MAX_REPLAYED) {
    throw new RookeryError(
      "input_invalid",
      `the branch has ${count} commits to replay, and the limit is ${MAX_REPLAYED}; merge or squash it instead`,
    );
  }
  const text = await repository.git(["log", ...how, `--format=${FIELDS.join("%x00")}`, ...which], { signal });
  const fields = text.split("\0");
  return Array.from({ length: Math.floor(fields.length / FIELDS.length) }, (_, at): PickedCommit => {
    const [commit = "", tree = "", parents = "", author = "", message = ""] = fields.slice(
      at * FIELDS.length,
      (at + 1) * FIELDS.length,
    );
    return { commit, tree, parent: parents.split(" ")[0] || undefined, author, message };
  });
}
