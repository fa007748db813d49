/** The usage of all sessions by day, agent, model and repository. */
import { locateRepository } from "../../config/root.ts";
import type { SessionSummary, Store } from "../../domain/index.ts";
import {
  sumUsage,
  totalUsage,
  unpricedTokens,
  UsageReportCache,
  type PricedUsage,
  type UsageQuery,
  type UsageReport,
} from "../../session/index.ts";

/** Further rows are left out. */
export const MAX_USAGE_ROWS = 10_000;

export type UsageReportQuery = Pick<UsageQuery, "by" | "agent" | "since">;

export async function readUsageReport(store: Store, query: UsageReportQuery, maxRows = MAX_USAGE_ROWS) {
  const cache = usageReportsOf(store);
  const readReports = (session: SessionSummary): Promise<readonly UsageReport[]> => cache.read(session);
  const sums = await sumUsage(store, { ...query, findRepository: createRepositoryLookup(store), readReports });
  const keyed = sums.map(({ of, ...usage }) => ({ of, usage, key: query.by.map((name) => of[name] ?? "").join("\0") }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1));
  return {
    ...(query.since !== undefined && { since: new Date(query.since).toISOString() }),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    rows: keyed.slice(0, maxRows).map(({ of, usage }) => ({ ...of, ...toUsageCells(usage) })),
    total: toUsageCells(totalUsage(sums)),
    truncated: sums.length > maxRows,
  };
}

const cachesByStore = new WeakMap<Store, UsageReportCache>();

/** The reports of one store, which all requests share. */
function usageReportsOf(store: Store): UsageReportCache {
  const known = cachesByStore.get(store) ?? new UsageReportCache(store);
  cachesByStore.set(store, known);
  return known;
}

/** Tokens of all reports, and the cost of those that have one. A sum with unknown parts would look complete. */
function toUsageCells(usage: PricedUsage) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage.all;
  const { costUsd: knownCostUsd = 0, costBy } = usage.priced;
  const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
  return { ...tokens, knownCostUsd, ...(costBy !== undefined && { costBy }), unpricedTokens: unpricedTokens(usage) };
}

/** A session of a task runs in a worktree, so its task has the repository. Asks once for each folder and task. */
function createRepositoryLookup(store: Store): (session: SessionSummary) => Promise<string> {
  const found = new Map<string, Promise<string>>();
  return ({ task, cwd }) => {
    const key = task === undefined ? `folder ${cwd}` : `task ${task}`;
    const known = found.get(key) ?? findRepository(store, task, cwd);
    found.set(key, known);
    return known;
  };
}

async function findRepository(store: Store, task: string | undefined, cwd: string): Promise<string> {
  const repository = task === undefined ? undefined : (await store.task(task))?.spec.repository;
  if (repository !== undefined) return repository;
  const [withoutWorktree = cwd] = cwd.split("/.rookery/worktrees/");
  return locateRepository(cwd).then(
    ({ root }) => root,
    () => withoutWorktree, // the folder is gone
  );
}
