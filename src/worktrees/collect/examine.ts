/** Looks at every worktree of ours, whoever left it, and says why it has to stay, if it has to. */
import { lstat, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../domain/index.ts";
import { findLinkedWorktree, type LinkedWorktree } from "../linked-worktrees.ts";
import { REMOVED_PREFIX } from "../worktree-folder.ts";
import { listWorktrees, worktreePath, type Worktree } from "../record.ts";
import type { Repository } from "../repository.ts";
import { measureDiskUsage } from "../size.ts";
import { assessWorktree } from "./assess.ts";

/** What its log says of it. */
export interface ExaminedTask {
  readonly id: string;
  readonly branch: string;
  readonly base: string;
  readonly into?: string | undefined;
  /** Does it run, wait, or merge? */
  readonly inUse: boolean;
  readonly endedAt?: string | undefined;
  /** What its branch was when it was merged, and what that became: a squash or a rebase leaves no other trace. */
  readonly mergedTip?: string | undefined;
  readonly mergedAs?: string | undefined;
}

export interface ExaminedWorktree {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  /** Files. */
  readonly uncommitted: number;
  /** Commits. */
  readonly unmerged: number;
  readonly inUse: boolean;
  /** No task knows it. */
  readonly orphan: boolean;
  /** When it was last of use, in milliseconds. */
  readonly lastUsed: number;
  /** Why it is kept; undefined where it may go. */
  readonly why?: string | undefined;
  /** Of one that may go. */
  readonly worktree?: Worktree | undefined;
  readonly into?: string | undefined;
  readonly mergedTip?: string | undefined;
}

/** Changes nothing. One that cannot be looked at is kept, and says why. */
export async function examineWorktrees(
  repository: Repository,
  tasks: readonly ExaminedTask[],
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly ExaminedWorktree[]> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const worktrees = await listWorktrees(repository);
  const examined: ExaminedWorktree[] = [];
  for (const worktree of worktrees) {
    signal?.throwIfAborted();
    examined.push(await examineOne(repository, worktree, byId.get(worktree.id), signal));
  }
  const known = new Set(worktrees.map(({ path }) => path));
  return [...examined, ...(await listUnknownFolders(repository, known))];
}

async function examineOne(
  repository: Repository,
  worktree: Worktree,
  task: ExaminedTask | undefined,
  signal?: AbortSignal,
): Promise<ExaminedWorktree> {
  const { id, path } = worktree;
  const linked = await findLinkedWorktree(repository, path);
  const [bytes, touched] = await Promise.all([measureDiskUsage(path).catch(() => 0), readLastTouched(path, linked)]);
  const ended = task?.endedAt === undefined ? undefined : Date.parse(task.endedAt);
  const basis = {
    id,
    path,
    bytes,
    uncommitted: 0,
    unmerged: 0,
    inUse: task?.inUse ?? false,
    orphan: task === undefined,
    lastUsed: ended ?? touched,
  };
  try {
    return { ...basis, ...(await assessWorktree(repository, worktree, task, { linked, touched, signal })) };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...basis, why: `it could not be looked at: ${messageOf(error)}` };
  }
}

async function readLastTouched(path: string, linked: LinkedWorktree | undefined): Promise<number> {
  const own = linked === undefined ? [] : ["HEAD", "index", "logs/HEAD"].map((name) => join(linked.dir, name));
  const times = [path, ...own].map((file) =>
    stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}

/** Folders beside the worktrees that we did not make: they may hold anything, and are only reported. */
async function listUnknownFolders(repository: Repository, known: ReadonlySet<string>): Promise<readonly ExaminedWorktree[]> {
  const folder = dirname(worktreePath(repository, "x"));
  const isOurs = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const names = isOurs ? await readdir(folder) : [];
  const strange = names.sort().map((name) => ({ id: name, path: join(folder, name) }));
  return Promise.all(
    strange
      .filter(({ id, path }) => !known.has(path) && !known.has(join(folder, id.replace(REMOVED_PREFIX, ""))))
      .map(async ({ id, path }) => ({
        id,
        path,
        bytes: await measureDiskUsage(path).catch(() => 0),
        uncommitted: 0,
        unmerged: 0,
        inUse: false,
        orphan: true,
        lastUsed: await readLastTouched(path, undefined),
        why: "it is no worktree of Rookery's; look at it, and remove it by hand",
      })),
  );
}
