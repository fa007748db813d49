/** Reads the current commits of the two branches of a merge. */
import { RookeryError } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";

export interface Branches {
  /** Commit of the branch that is merged. */
  readonly branch: string;
  /** Commit of the target branch. */
  readonly into: string;
  /** Ref of the target branch. If the branch is a symbolic ref, this is the ref it points to. */
  readonly ref: string;
}

export interface BranchNames {
  readonly branch: string;
  readonly into: string;
  /** The ref of the target branch. Default: the branch `into` of this repository. */
  readonly intoRef?: string | undefined;
}

/** Rejects with `input_invalid` if a name is invalid or not a branch, and with `base_not_found` if it does not exist. */
export async function readBranches(
  repository: Repository,
  names: BranchNames,
  signal?: AbortSignal,
): Promise<Branches> {
  for (const name of [names.branch, names.into]) await checkBranchRef(repository, name);
  if (names.branch === names.into) {
    throw new RookeryError("input_invalid", `${names.into} cannot be merged into itself; name another branch`);
  }
  const refs = [`refs/heads/${names.branch}`, names.intoRef ?? `refs/heads/${names.into}`];
  const format = "--format=%(refname)%00%(objectname)%00%(symref)";
  const lines = (await repository.git(["for-each-ref", format, ...refs], { signal })).split("\n");
  const found = new Map(lines.map((line) => line.split("\0")).map(([ref, ...rest]) => [ref, rest] as const));
  const [branch, into] = refs.map((ref) => found.get(ref));
  if (branch?.[0] === undefined) throw await branchNotFound(repository, names.branch);
  if (into?.[0] === undefined) throw await branchNotFound(repository, names.into);
  return {
    branch: branch[0],
    into: into[0],
    ref: (names.intoRef === undefined ? into[1] : "") || `refs/heads/${names.into}`,
  };
}

/** Also rejects a leading dash, which some git commands accept and others parse as an option. */
async function checkBranchRef(repository: Repository, name: string): Promise<void> {
  const harmless = name.length <= 1_000 && !name.startsWith("-") && !name.includes("\0");
  const allowed = harmless && (await repository.gitTry(["check-ref-format", `refs/heads/${name}`])).code === 0;
  if (!allowed)
    throw new RookeryError(
      "input_invalid",
      `${quoteName(name)} is not a valid branch name; see: git help check-ref-format`,
    );
}

async function branchNotFound(repository: Repository, name: string): Promise<RookeryError> {
  await repository.resolve(name); // rejects with suggestions if nothing has this name
  return new RookeryError("input_invalid", `${quoteName(name)} is not a branch, so it cannot be merged; name a branch`);
}

function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, 200).toWellFormed());
}
