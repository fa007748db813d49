/** Decides at the start of a task whether other hosts can get its repository from a remote, and what it starts from there. */
import { RookeryError, isRookeryError } from "../../domain/index.ts";
import { findCheckoutOfRemote, parseRemoteUrl, type Repository } from "../../worktrees/index.ts";

export interface TaskRemote {
  /** Without credentials. */
  readonly url: string;
  /** As the mirrors name it: `origin/BRANCH`, or a commit. */
  readonly base: string;
}

/**
 * Resolves with undefined if the repository has no remote that other hosts can use, or has files of Git LFS: a push of
 * Rookery would not upload them. Rejects with `base_not_found` if the
 * remote does not have the commits that the task would start from. Reads the remote branches as they were fetched or
 * pushed last, without the network.
 */
export async function resolveTaskRemote(
  repository: Repository,
  base: string | undefined,
): Promise<TaskRemote | undefined> {
  const from = base === undefined ? await repository.head() : await repository.resolve(base);
  const found = await findRemote(repository, from.branch);
  if (found === undefined) return undefined;
  if (await usesLfs(repository, from.commit)) return undefined;
  const { name, url } = found;
  const prefix = `${name}/`;
  if (base?.startsWith(prefix) === true && (await hasRemoteBranch(repository, base))) {
    return { url, base: `origin/${base.slice(prefix.length)}` };
  }
  const branch = from.branch === undefined ? undefined : `${prefix}${from.branch}`;
  if (branch !== undefined && (await hasRemoteBranch(repository, branch))) {
    const missing = await countMissing(repository, from.commit, `refs/remotes/${branch}`);
    if (missing === 0) return { url, base: `origin/${from.branch ?? ""}` };
    throw notPushed(`${from.branch ?? ""} has ${missing === 1 ? "a commit" : `${missing} commits`}`, name, from.branch);
  }
  const contains = ["for-each-ref", "--count=1", "--contains", from.commit, `refs/remotes/${name}`];
  if ((await repository.git(contains)) !== "") return { url, base: from.commit };
  throw notPushed(`${base ?? from.branch ?? "HEAD"} has commits`, name, from.branch);
}

/** Chooses the upstream of the branch, `origin`, or the only remote. */
async function findRemote(
  repository: Repository,
  branch: string | undefined,
): Promise<{ readonly name: string; readonly url: string } | undefined> {
  const listed = await repository.gitTry([
    "config",
    "--null",
    "--get-regexp",
    String.raw`^(remote\..*\.url|branch\..*\.remote)$`,
  ]);
  const settings = new Map(
    listed.stdout.split("\0").map((line) => {
      const at = line.indexOf("\n");
      return [line.slice(0, at), line.slice(at + 1)] as const;
    }),
  );
  const names = [...settings.keys()].flatMap((key) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []);
  const upstream = branch === undefined ? undefined : settings.get(`branch.${branch}.remote`);
  const name = [upstream, "origin", names.length === 1 ? names[0] : undefined].find(
    (each) => each !== undefined && names.includes(each),
  );
  if (name === undefined) return undefined;
  try {
    const url = parseRemoteUrl(settings.get(`remote.${name}.url`) ?? "");
    return (await findCheckoutOfRemote(url)) === undefined ? { name, url } : undefined;
  } catch (error) {
    if (isRookeryError(error, "input_invalid")) return undefined; // a relative path, or a protocol of this host only
    throw error;
  }
}

async function usesLfs(repository: Repository, commit: string): Promise<boolean> {
  const args = ["grep", "--quiet", "--fixed-strings", "-e", "filter=lfs", commit, "--", ":(glob)**/.gitattributes"];
  return (await repository.gitTry(args)).code === 0;
}

async function hasRemoteBranch(repository: Repository, name: string): Promise<boolean> {
  return (await repository.gitTry(["show-ref", "--verify", "--quiet", `refs/remotes/${name}`])).code === 0;
}

async function countMissing(repository: Repository, commit: string, ref: string): Promise<number> {
  return Number(await repository.git(["rev-list", "--count", commit, `^${ref}`]));
}

function notPushed(what: string, remote: string, branch: string | undefined): RookeryError {
  const push = `git push ${remote} ${branch ?? "HEAD:BRANCH"}`;
  const other = `start from what is there with --base ${remote}/BRANCH`;
  return new RookeryError(
    "base_not_found",
    `${what} that ${remote} does not have, and other hosts get the repository from there; push first: ${push}, or ${other}, ` +
      'or keep tasks on this host: [host] repositories = "pinned"',
  );
}
