/** Examines every Rookery worktree of a repository and finds out whether it can be removed. */
import { lstat, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../domain/index.ts";
import { findLinkedWorktree, type LinkedWorktree } from "../linked-worktrees.ts";
import { REMOVED_PREFIX } from "../worktree-folder.ts";
import { listWorktrees, worktreePath, type Worktree } from "../record.ts";
import type { Repository } from "../repository.ts";
import { measureDiskUsage } from "../size.ts";
import { assessWorktree } from "./assess.ts";
import type { ExaminedTask, ExaminedWorktree } from "./examined.ts";

/** Changes nothing. A worktree that cannot be examined is reported as kept. */
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
    return { ...basis, why: `it could not be examined: ${messageOf(error)}` };
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

/** Lists other folders next to the worktrees. They may contain anything, so they are only reported. */
async function listUnknownFolders(
  repository: Repository,
  known: ReadonlySet<string>,
): Promise<readonly ExaminedWorktree[]> {
  const folder = dirname(worktreePath(repository, "x"));
  const isOurs = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const names = isOurs ? await readdir(folder) : [];
  const folders = names.sort().map((name) => ({ id: name, path: join(folder, name) }));
  return Promise.all(
    folders
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
        why: "it is not a Rookery worktree; check it and remove it by hand",
      })),
  );
}
