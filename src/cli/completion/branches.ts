/** Lists the branches and tags of the repository for completion. */
import { git } from "../../worktrees/git.ts";
import type { Io } from "../io.ts";
import { type CompletionCandidate, MAX_CANDIDATES } from "./candidate.ts";

/** A person waits for the words. */
const DEADLINE_MS = 2_000;

/** Newest first. Rejects outside of a repository. */
export async function branchCandidates(io: Io): Promise<readonly CompletionCandidate[]> {
  const args = ["for-each-ref", "--sort=-creatordate", `--count=${MAX_CANDIDATES}`, "--format=%(refname:short)"];
  const options = { env: io.env, marker: `rookery-complete-${process.pid}`, deadlineMs: DEADLINE_MS };
  const names = await git(io.cwd(), [...args, "refs/heads", "refs/tags", "refs/remotes"], options);
  return names.split("\n").map((word) => ({ word }));
}
