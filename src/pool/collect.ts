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
import type { PoolParts, Repositories, RepositorySpec } from "./parts.ts";
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
  const wanted = options.cwd === undefined ? undefined : await repositories.at(parts.folder(options.cwd));
  const isHere = ({ spec, worktree }: TaskState) => spec.remote === undefined || worktree?.host === parts.host;
  const chosen = states.filter(
    (state) => isHere(state) && (wanted === undefined || state.spec.repository === wanted.root),
  );
  const specs = new Map<string, RepositorySpec>(
    wanted === undefined ? [] : [[wanted.root, { repository: wanted.root }]],
  );
  for (const { spec } of chosen) specs.set(spec.remote ?? spec.repository, spec);
  const reports: CollectReport[] = [];
  for (const [key, spec] of specs) {
    const repository = (await repositories.of(spec).catch(() => undefined))?.repository; // a deleted repository has no worktrees
    if (repository === undefined) continue;
    const { quota } = (await parts.config(repository.root).catch(() => undefined))?.worktree ?? {};
    const isOfIt = ({ spec: each }: TaskState) =>
      each.remote === undefined ? each.repository === repository.root : each.remote === key;
    const how = { ...options, quota: options.quota ?? quota };
    const [ofIt, elsewhere] = partition(states.filter(isOfIt), isHere);
    reports.push(await collectIn({ repository, states: ofIt, elsewhere, withWriter }, how));
  }
  return {
    dryRun: options.dryRun ?? false,
    removed: reports.flatMap(({ removed }) => removed),
    kept: reports.flatMap(({ kept }) => kept),
    freed: reports.reduce((sum, { freed }) => sum + freed, 0),
    left: reports.reduce((sum, { left }) => sum + left, 0),
  };
}

interface CollectedRepository {
  readonly repository: Repository;
  readonly states: readonly TaskState[];
  /** Tasks that another host has taken over. What they left here may be all that is left of their work, so it stays. */
  readonly elsewhere: readonly TaskState[];
  readonly withWriter: WithTaskWriter;
}

async function collectIn(
  { repository, states, elsewhere, withWriter }: CollectedRepository,
  { dryRun = false, quota }: CollectTasks,
): Promise<CollectReport> {
  const all = await examineWorktrees(repository, states.flatMap(toExaminedTask));
  const examined = all.filter(({ id }) => !elsewhere.some((state) => state.id === id));
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

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
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
