/** Removes worktrees that are clean, merged and unused. Holds the lease of each task while it removes the worktree. */
import {
  isEnded,
  messageOf,
  type CollectReport,
  type CollectTasks,
  type Store,
  type TaskState,
} from "../domain/index.ts";
import {
  collectWorktrees,
  examineWorktrees,
  type ExaminedWorktree,
  type ExaminedTask,
  type Repository,
} from "../worktrees/index.ts";
import { isMerging } from "./merge-task.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { TaskWriter } from "./task-writer.ts";
import { isLogFailure } from "./run-end.ts";

/** Runs `work` with the writer of a task, or with undefined if the task does not exist. */
export type WithTaskWriter = <T>(id: string, work: (writer: TaskWriter | undefined) => Promise<T>) => Promise<T>;

export async function collectTasks(
  parts: PoolParts,
  repositories: Repositories,
  withWriter: WithTaskWriter,
  options: CollectTasks,
): Promise<CollectReport> {
  const states = await allTasks(parts.store);
  const wanted = options.cwd === undefined ? undefined : await repositories(parts.folder(options.cwd));
  const roots = wanted === undefined ? new Set(states.map(({ spec }) => spec.repository)) : [wanted.root];
  const reports: CollectReport[] = [];
  for (const root of roots) {
    const repository = await repositories(root).catch(() => undefined); // a deleted repository has no worktrees
    if (repository === undefined) continue;
    const { quota } = (await parts.config(root).catch(() => undefined))?.worktree ?? {};
    const ofIt = states.filter(({ spec }) => spec.repository === repository.root);
    const how = { ...options, quota: options.quota ?? quota };
    reports.push(await collectIn(repository, ofIt, withWriter, how));
  }
  return {
    dryRun: options.dryRun ?? false,
    removed: reports.flatMap(({ removed }) => removed),
    kept: reports.flatMap(({ kept }) => kept),
    freed: reports.reduce((sum, { freed }) => sum + freed, 0),
    left: reports.reduce((sum, { left }) => sum + left, 0),
  };
}

async function collectIn(
  repository: Repository,
  states: readonly TaskState[],
  withWriter: WithTaskWriter,
  { dryRun = false, quota }: CollectTasks,
): Promise<CollectReport> {
  const examined = await examineWorktrees(repository, states.flatMap(toExaminedTask));
  const planned = await collectWorktrees(repository, examined, { dryRun: true, quota });
  if (dryRun) return planned;
  const removed: CollectReport["removed"][number][] = [];
  const kept = [...planned.kept];
  for (const entry of planned.removed) {
    const one = examined.filter(({ path }) => path === entry.path);
    const head = states.find(({ id }) => id === entry.id)?.head;
    const why = await removeUnused({ repository, one, id: entry.id, head }, withWriter);
    if (why === undefined) removed.push(entry);
    else kept.push({ ...entry, why });
  }
  const freed = removed.reduce((sum, { bytes }) => sum + bytes, 0);
  return { dryRun, removed, kept, freed, left: planned.left + planned.freed - freed };
}

/** Returns why the worktree is kept, or undefined if it was removed. A task that was resumed since keeps its worktree. */
async function removeUnused(
  {
    repository,
    one,
    id,
    head,
  }: { repository: Repository; one: ExaminedWorktree[]; id: string; head: number | undefined },
  withWriter: WithTaskWriter,
): Promise<string | undefined> {
  try {
    return await withWriter(id, async (writer) => {
      if (head !== undefined && writer?.state.head !== head) return "its task was resumed in the meantime";
      const { kept, removed } = await collectWorktrees(repository, one, { dryRun: false });
      const [gone] = removed;
      if (gone === undefined) return kept[0]?.why ?? "it no longer exists";
      const branch = writer?.state.worktree?.branch ?? "";
      await writer?.write({ type: "worktree.removed", path: gone.path, branch, forced: false });
      return undefined;
    });
  } catch (error) {
    if (isLogFailure(error)) throw error;
    return messageOf(error);
  }
}

function toExaminedTask(state: TaskState): ExaminedTask[] {
  const { id, worktree, merge, endedAt } = state;
  if (worktree === undefined) return [];
  const isMerged = merge?.outcome === "merged";
  return [
    {
      id,
      branch: worktree.branch,
      base: worktree.base,
      into: merge?.into,
      inUse: !isEnded(state) || isMerging(state),
      endedAt,
      mergedTip: isMerged ? merge.tip : undefined,
      mergedAs: isMerged ? merge.commit : undefined,
    },
  ];
}

const PAGE = 1_000;

async function allTasks(store: Store): Promise<readonly TaskState[]> {
  const all: TaskState[] = [];
  for (let before: string | undefined; ;) {
    const page = await store.tasks({ before, limit: PAGE });
    all.push(...page);
    before = page.at(-1)?.id;
    if (page.length < PAGE) return all;
  }
}
