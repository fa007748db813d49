/** Lets go of worktrees that are clean, merged and unused, each while nobody else can take its task. */
import {
  isEnded,
  messageOf,
  type CollectReport,
  type CollectTasks,
  type Store,
  type TaskState,
} from "../domain/index.ts";
import { collect, examine, type Examined, type ExaminedTask, type Repository } from "../worktrees/index.ts";
import { isMerging } from "./merging.ts";
import type { PoolParts, Repositories } from "./parts.ts";
import type { Pen } from "./pen.ts";
import { isLogFailure } from "./reasons.ts";

/** With the pen of a task; without one where there is no such task. */
export type WithPen = <T>(id: string, work: (pen: Pen | undefined) => Promise<T>) => Promise<T>;

export async function collectTasks(
  parts: PoolParts,
  repositories: Repositories,
  withPen: WithPen,
  options: CollectTasks,
): Promise<CollectReport> {
  const states = await allTasks(parts.store);
  const wanted = options.cwd === undefined ? undefined : await repositories(parts.folder(options.cwd));
  const roots = wanted === undefined ? new Set(states.map(({ spec }) => spec.repository)) : [wanted.root];
  const reports: CollectReport[] = [];
  for (const root of roots) {
    const repository = await repositories(root).catch(() => undefined); // a repository that is gone has no worktrees
    if (repository === undefined) continue;
    const { quota } = (await parts.config(root).catch(() => undefined))?.worktree ?? {};
    const ofIt = states.filter(({ spec }) => spec.repository === repository.root);
    const how = { ...options, quota: options.quota ?? quota };
    reports.push(await collectIn(repository, ofIt, withPen, how));
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
  withPen: WithPen,
  { dryRun = false, quota }: CollectTasks,
): Promise<CollectReport> {
  const examined = await examine(repository, states.flatMap(examinedTask));
  const planned = await collect(repository, examined, { dryRun: true, quota });
  if (dryRun) return planned;
  const removed: CollectReport["removed"][number][] = [];
  const kept = [...planned.kept];
  for (const entry of planned.removed) {
    const one = examined.filter(({ path }) => path === entry.path);
    const head = states.find(({ id }) => id === entry.id)?.head;
    const why = await removeUnused({ repository, one, id: entry.id, head }, withPen);
    if (why === undefined) removed.push(entry);
    else kept.push({ ...entry, why });
  }
  const freed = removed.reduce((sum, { bytes }) => sum + bytes, 0);
  return { dryRun, removed, kept, freed, left: planned.left + planned.freed - freed };
}

/** Why it is kept, if it is: whoever resumed its task since it was looked at works in it. */
async function removeUnused(
  { repository, one, id, head }: { repository: Repository; one: Examined[]; id: string; head: number | undefined },
  withPen: WithPen,
): Promise<string | undefined> {
  try {
    return await withPen(id, async (pen) => {
      if (head !== undefined && pen?.state.head !== head) return "its task has gone on meanwhile";
      const { kept, removed } = await collect(repository, one, { dryRun: false });
      const [gone] = removed;
      if (gone === undefined) return kept[0]?.why ?? "it is not there";
      const branch = pen?.state.worktree?.branch ?? "";
      await pen?.write({ type: "worktree.removed", path: gone.path, branch, forced: false });
      return undefined;
    });
  } catch (error) {
    if (isLogFailure(error)) throw error;
    return messageOf(error);
  }
}

function examinedTask(state: TaskState): ExaminedTask[] {
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
