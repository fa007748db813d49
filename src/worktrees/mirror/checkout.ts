/** The repository for worktrees of a mirror: creates it, and updates its checkout of the default branch. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { git, type GitRunOptions } from "../git.ts";
import { openRepository, type Repository, type RepositoryOptions } from "../repository.ts";
import { copyMirrorRefs } from "./refs.ts";
import type { GitTransport } from "./transport.ts";

interface MirrorCheckout {
  readonly folder: string;
  readonly defaultBranch: string;
  readonly transport: GitTransport;
  readonly git: RepositoryOptions;
}

/** Opens the repository. Creates what is missing, for example after an interrupted creation. */
export async function openMirrorCheckout(checkout: MirrorCheckout): Promise<Repository> {
  const { folder, defaultBranch, transport } = checkout;
  const alternates = join(folder, ".git", "objects", "info", "alternates");
  const borrowed = `${relative(transport.objects, join(transport.gitDir, "objects"))}\n`; // the root can be moved
  const isComplete = (await readFile(alternates, "utf8").catch(() => "")) === borrowed;
  if (!isComplete) await createRepository(checkout, { file: alternates, text: borrowed });
  const repository = await openRepository(folder, checkout.git);
  const head = await repository.gitTry(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (head.code === 0) return repository;
  await copyMirrorRefs(repository, transport);
  const problem = await updateMirrorCheckout(repository, defaultBranch);
  if (problem !== undefined) throw new RookeryError("git_failed", problem);
  return repository;
}

async function createRepository(
  { folder, transport, git: options }: MirrorCheckout,
  alternates: { readonly file: string; readonly text: string },
): Promise<void> {
  const commonDir = join(folder, ".git");
  const run = (args: readonly string[], more: GitRunOptions = {}) =>
    git(folder, args, options, { gitDir: commonDir, workTree: folder, ...more });
  await run(["init", "--quiet", "--template="]);
  await run(["config", "remote.origin.url", transport.url]); // for the git commands of agents
  await run(["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
  await mkdir(dirname(alternates.file), { recursive: true });
  await writeFile(alternates.file, alternates.text);
  await copyMirrorRefs({ commonDir, git: run }, transport);
}

/**
 * Checks out the default branch with a detached HEAD, so that its files have the configuration that the tasks use. Returns
 * why it could not, for example because someone changed a file there.
 */
export async function updateMirrorCheckout(
  repository: Repository,
  defaultBranch: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const ref = `refs/remotes/origin/${defaultBranch}`;
  return repository.exclusive(async () => {
    const [wanted, head] = await Promise.all(
      [ref, "HEAD"].map((name) =>
        repository.gitTry(["rev-parse", "--verify", "--quiet", `${name}^{commit}`], { signal }),
      ),
    );
    if (wanted?.code !== 0 || wanted.stdout === head?.stdout) return undefined;
    // A tracked `.rookery` would write into the worktrees of tasks, on some disks also if its name is in capitals.
    const names = await repository.git(["ls-tree", "--name-only", ref], { signal });
    if (/^\.rookery$/im.test(names)) {
      return `${repository.root} was not updated: ${defaultBranch} of the remote tracks .rookery, which Rookery uses for worktrees`;
    }
    const result = await repository.gitTry(["checkout", "--quiet", "--detach", ref], { signal });
    if (result.code === 0) return undefined;
    const reason = result.stderr.trim().split("\n").slice(0, 3).join("; ").slice(0, 500).toWellFormed();
    return `${repository.root} was not updated to ${defaultBranch}, so tasks use the configuration of an older commit: ${reason}`;
  }, signal);
}
