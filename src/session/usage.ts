/** Sums the usage of all sessions. */
import { setImmediate as nextTick } from "node:timers/promises";
import { isRookeryError } from "../domain/errors.ts";
import { MAX_PAGE, type SessionStore } from "../domain/store.ts";
import type { SessionSummary } from "../domain/summary.ts";
import { addUsage, NO_USAGE, type Usage } from "../domain/usage.ts";
import { readUsageReports, type UsageReport } from "./usage-reports.ts";

/** Usage, and the part of it that has a cost. */
export interface PricedUsage {
  readonly all: Usage;
  /** Only reports with a cost. The cost of `all` is unknown if one of its reports has none. */
  readonly priced: Usage;
}

export const USAGE_DIMENSIONS = ["day", "agent", "model", "repository"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** A sum, with the values of the requested dimensions. An unknown model is undefined. */
export interface UsageSum extends PricedUsage {
  readonly of: { readonly [Dimension in UsageDimension]?: string | undefined };
}

export interface UsageQuery {
  readonly by: readonly UsageDimension[];
  readonly agent?: string | undefined;
  /** Counts only usage reported at or after this time, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Required for the dimension `repository`. */
  readonly findRepository?: ((session: SessionSummary) => Promise<string>) | undefined;
  /** Default: reads the whole log of the session. */
  readonly readReports?: ((session: SessionSummary) => Promise<readonly UsageReport[]>) | undefined;
}

/** Adding this many reports takes about 5 ms. */
const REPORTS_PER_TICK = 1_000;

const NO_PRICED_USAGE: PricedUsage = { all: NO_USAGE, priced: NO_USAGE };

/**
 * Sums in the order in which they were first found; the newest session comes first. Leaves out what a session reports
 * for a child session, because the child's log has it.
 */
export async function sumUsage(store: Pick<SessionStore, "list" | "read">, query: UsageQuery): Promise<UsageSum[]> {
  const { by, agent, since = -Infinity, findRepository } = query;
  const readReports =
    query.readReports ?? (async ({ id }: SessionSummary) => (await readUsageReports(store, id)).reports);
  const sums = new Map<string, UsageSum>();
  let count = 0;
  for await (const session of listAllSessions(store)) {
    if (Date.parse(session.updatedAt) < since || isUnused(session)) continue;
    const repository = by.includes("repository") ? await findRepository?.(session) : undefined;
    for (const report of await readUnlessDeleted(session, readReports)) {
      count += 1;
      if (count % REPORTS_PER_TICK === 0) await nextTick(); // other work of this process comes first
      if (Date.parse(report.at) < since || (agent !== undefined && report.agent !== agent)) continue;
      const values = { day: toLocalDay(report.at), agent: report.agent, model: report.model, repository };
      const of = Object.fromEntries(by.map((dimension) => [dimension, values[dimension]]));
      const key = JSON.stringify(of);
      sums.set(key, { of, ...addReport(sums.get(key) ?? NO_PRICED_USAGE, report) });
    }
  }
  return [...sums.values()];
}

/** True if nothing can have been reported. Sessions from before `usage` existed have turns. */
function isUnused({ usage, turns }: SessionSummary): boolean {
  return usage === undefined && turns === 0;
}

export function totalUsage(usages: readonly PricedUsage[]): PricedUsage {
  return usages.reduce(
    (sum, { all, priced }) => ({ all: addUsage(sum.all, all), priced: addUsage(sum.priced, priced) }),
    NO_PRICED_USAGE,
  );
}

/** Returns the number of tokens whose cost is unknown. */
export function unpricedTokens({ all, priced }: PricedUsage): number {
  return all.inputTokens + all.outputTokens - priced.inputTokens - priced.outputTokens;
}

/** Empty if the session was deleted after it was listed. */
async function readUnlessDeleted(
  session: SessionSummary,
  read: (session: SessionSummary) => Promise<readonly UsageReport[]>,
): Promise<readonly UsageReport[]> {
  try {
    return await read(session);
  } catch (error) {
    if (isRookeryError(error, "session_not_found")) return [];
    throw error;
  }
}

function addReport({ all, priced }: PricedUsage, report: UsageReport): PricedUsage {
  return { all: addUsage(all, report), priced: report.costUsd === undefined ? priced : addUsage(priced, report) };
}

/** The day in the time zone of this process, such as `2026-01-31`. */
function toLocalDay(at: string): string {
  const date = new Date(at);
  const part = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`;
}

/** Lists all sessions, newest first, page by page. */
export async function* listAllSessions(store: Pick<SessionStore, "list">): AsyncIterable<SessionSummary> {
  for (let before: string | undefined; ;) {
    const page = await store.list({ before, limit: MAX_PAGE });
    yield* page;
    before = page.at(-1)?.id;
    if (before === undefined) return;
  }
}
