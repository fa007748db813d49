/** Refs of a mirror, and their copies in the repository of the worktrees. */
import { RookeryError } from "../../domain/index.ts";
import { git, gitTry } from "../git.ts";
import { listLinkedWorktrees } from "../linked-worktrees.ts";
import type { Repository } from "../repository.ts";
import { mirrorPlace, type GitTransport } from "./transport.ts";

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
  const place = mirrorPlace(gitDir);
  const refs = parseRefs(await git(gitDir, ["for-each-ref", FORMAT], options, place));
  const head = await gitTry(gitDir, ["symbolic-ref", "--quiet", "HEAD"], options, place);
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
  await git(gitDir, ["symbolic-ref", "HEAD", chosen], options, mirrorPlace(gitDir));
}

/**
 * Copies the refs of the mirror: branches to `refs/remotes/origin/`, tags as they are. Replaces a tag `a` that is in the way
 * of `a/b`. With `branch`, also sets the local branch of this name, unless a worktree has it checked out or another local
 * branch is in the way.
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
  const isBlocked = findBlocking([...own.keys()], [local]).size > 0; // the other branch may have the work of an agent
  if (tip !== undefined && !isBlocked && !(await isCheckedOut(repository, local))) wanted.set(local, tip);
  const blocking = findBlocking(own.keys(), wanted.keys());
  const gone = [...own.keys()].filter(
    (ref) => !wanted.has(ref) && (ref.startsWith("refs/remotes/origin/") || blocking.has(ref)),
  );
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

/** Returns the refs that are in the way of others: `a` of `a/b`, and the other way round. */
function findBlocking(own: Iterable<string>, wanted: Iterable<string>): ReadonlySet<string> {
  const owned = new Set(own);
  const blocking = new Set<string>();
  const names = new Set(wanted);
  for (const ref of names) for (const folder of listFolders(ref)) if (owned.has(folder)) blocking.add(folder);
  for (const ref of owned) if (listFolders(ref).some((folder) => names.has(folder))) blocking.add(ref);
  return blocking;
}

/** `refs/tags` and `refs/tags/a` for `refs/tags/a/b`. */
function listFolders(ref: string): string[] {
  const folders: string[] = [];
  for (let at = ref.lastIndexOf("/"); at > 0; at = ref.lastIndexOf("/", at - 1)) folders.push(ref.slice(0, at));
  return folders;
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
