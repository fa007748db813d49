/** Refs of a mirror, and their copies in the repository of the worktrees. */
import { RookeryError } from "../../domain/index.ts";
import { git, gitTry } from "../git.ts";
import { listLinkedWorktrees } from "../linked-worktrees.ts";
import type { Repository } from "../repository.ts";
import type { GitTransport } from "./transport.ts";

export interface MirrorRefs {
  /** Branches and tags of the remote with their objects. */
  readonly refs: ReadonlyMap<string, string>;
  /** The default branch, without `refs/heads/`. */
  readonly defaultBranch: string;
}

const FORMAT = "--format=%(objectname) %(objecttype) %(refname)";

/** Reads each object that a ref names, so it rejects with `git_failed` if the mirror is damaged there. */
export async function readMirrorRefs({
  gitDir,
  options,
}: Pick<GitTransport, "gitDir" | "options">): Promise<MirrorRefs> {
  const refs = parseRefs(await git(gitDir, ["for-each-ref", FORMAT], options, { gitDir }));
  const head = await gitTry(gitDir, ["symbolic-ref", "--quiet", "HEAD"], options, { gitDir });
  return { refs, defaultBranch: head.stdout.trim().replace(/^refs\/heads\//, "") };
}

/** Sets the default branch: the one that the remote names, `main`, `master`, or the first one. */
export async function setDefaultBranch(transport: GitTransport, named: string | undefined): Promise<void> {
  const { url, gitDir, options } = transport;
  const { refs } = await readMirrorRefs(transport);
  const branches = [...refs.keys()].filter((ref) => ref.startsWith("refs/heads/"));
  const chosen = [named, "refs/heads/main", "refs/heads/master", branches[0]].find(
    (ref) => ref !== undefined && branches.includes(ref),
  );
  if (chosen === undefined) {
    throw new RookeryError("repository_empty", `${url} has no branch; push one first: git push ${url} HEAD:main`);
  }
  await git(gitDir, ["symbolic-ref", "HEAD", chosen], options, { gitDir });
}

/**
 * Copies the refs of the mirror: branches to `refs/remotes/origin/`, tags as they are. With `branch`, also sets the local
 * branch of this name, unless a worktree has it checked out.
 */
export async function copyMirrorRefs(
  repository: Pick<Repository, "commonDir" | "git">,
  transport: GitTransport,
  { branch, signal }: { readonly branch?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { refs: mirrored } = await readMirrorRefs(transport);
  const own = parseRefs(await repository.git(["for-each-ref", FORMAT], { signal }));
  const wanted = new Map<string, string>();
  for (const [ref, object] of mirrored) {
    if (ref.startsWith("refs/heads/")) wanted.set(ref.replace("refs/heads/", "refs/remotes/origin/"), object);
    else if (ref.startsWith("refs/tags/")) wanted.set(ref, object);
  }
  const local = `refs/heads/${branch ?? ""}`;
  const tip = branch === undefined ? undefined : mirrored.get(local);
  if (tip !== undefined && !(await isCheckedOut(repository, local))) wanted.set(local, tip);
  const gone = [...own.keys()].filter((ref) => ref.startsWith("refs/remotes/origin/") && !wanted.has(ref));
  await updateRefs(
    repository,
    gone.map((ref) => `delete ${ref}`),
    signal,
  ); // first: `a` may have become `a/b`
  const changed = [...wanted].filter(([ref, object]) => own.get(ref) !== object);
  await updateRefs(
    repository,
    changed.map(([ref, object]) => `update ${ref} ${object}`),
    signal,
  );
}

async function updateRefs(
  repository: Pick<Repository, "git">,
  lines: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (lines.length === 0) return;
  await repository.git(["update-ref", "--no-deref", "--stdin"], { input: `${lines.join("\n")}\n`, signal });
}

async function isCheckedOut(repository: Pick<Repository, "commonDir">, ref: string): Promise<boolean> {
  return (await listLinkedWorktrees(repository)).some((linked) => linked.ref === ref);
}

function parseRefs(listed: string): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of listed.split("\n")) {
    const [object, , ref] = line.split(" ");
    if (object !== undefined && ref !== undefined) refs.set(ref, object);
  }
  return refs;
}
