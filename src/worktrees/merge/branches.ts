/** The two branches of a merge, as they are now. */
import { RookeryError } from "../../domain/index.ts";
import type { Repository } from "../repository.ts";

export interface Branches {
  /** The commit of what is merged. */
  readonly branch: string;
  /** The commit of what it goes into. */
  readonly into: string;
  /** What is moved: a branch that stands for another one is left as it is, and that one moved. */
  readonly ref: string;
}

export interface BranchNames {
  readonly branch: string;
  readonly into: string;
}

/** Rejects with `input_invalid` for what cannot be or is no branch, `base_not_found` for one that is not there. */
export async function readBranches(
  repository: Repository,
  names: BranchNames,
  signal?: AbortSignal,
): Promise<Branches> {
  for (const name of [names.branch, names.into]) await checkBranchRef(repository, name);
  if (names.branch === names.into) {
    throw new RookeryError("input_invalid", `${names.into} cannot be merged into itself; name another branch`);
  }
  const refs = [`refs/heads/${names.branch}`, `refs/heads/${names.into}`];
  const format = "--format=%(refname)%00%(objectname)%00%(symref)";
  const lines = (await repository.git(["for-each-ref", format, ...refs], { signal })).split("\n");
  const found = new Map(lines.map((line) => line.split("\0")).map(([ref, ...rest]) => [ref, rest] as const));
  const [branch, into] = refs.map((ref) => found.get(ref));
  if (branch?.[0] === undefined) throw await branchNotFound(repository, names.branch);
  if (into?.[0] === undefined) throw await branchNotFound(repository, names.into);
  return { branch: branch[0], into: into[0], ref: into[1] || `refs/heads/${names.into}` };
}

/** Git lets a branch begin with a dash in some places and takes it for an option in others. */
async function checkBranchRef(repository: Repository, name: string): Promise<void> {
  const harmless = name.length <= 1_000 && !name.startsWith("-") && !name.includes("\0");
  const allowed = harmless && (await repository.gitTry(["check-ref-format", `refs/heads/${name}`])).code === 0;
  if (!allowed) throw new RookeryError("input_invalid", `${quoteName(name)} cannot be the name of a branch`);
}

async function branchNotFound(repository: Repository, name: string): Promise<RookeryError> {
  await repository.resolve(name); // rejects with the names that are near
  return new RookeryError("input_invalid", `${quoteName(name)} is no branch, so nothing can be merged; name a branch`);
}

function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, 200).toWellFormed());
}
