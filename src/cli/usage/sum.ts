/** Sums the usage of all sessions by agent and model. Reads the log in pages to limit memory. */
import type { EventOf } from "../../domain/events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { MAX_PAGE, type SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { readSessionEvents } from "../sessions/read-events.ts";

/** Usage, and the part of it that has a cost. */
export interface PricedUsage {
  readonly all: Usage;
  /** Only reports with a cost. The cost of `all` is unknown if one of its reports has none. */
  readonly priced: Usage;
}

export interface AgentUsage extends PricedUsage {
  readonly agent: string;
  readonly models: readonly (PricedUsage & { readonly model: string | undefined })[];
}

const NO_PRICED_USAGE: PricedUsage = { all: NO_USAGE, priced: NO_USAGE };

export interface UsageQuery {
  readonly agent?: string | undefined;
  /** Counts only usage reported at or after this time, in milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** Sorted by agent name. */
export async function sumUsage(store: SessionStore, { agent, since = -Infinity }: UsageQuery): Promise<AgentUsage[]> {
  const sums = new Map<string, Map<string | undefined, PricedUsage>>();
  for await (const session of allSessions(store)) {
    if (Date.parse(session.updatedAt) < since) continue;
    let model: string | undefined;
    for await (const event of readSessionEvents(store, session.id, 0)) {
      if (event.type === "session.opened") model = event.model;
      if (event.type !== "usage.reported" || Date.parse(event.at) < since) continue;
      if (event.childSessionId !== undefined) continue; // the child's log has it
      if (agent !== undefined && event.agent !== agent) continue;
      const models = sums.get(event.agent) ?? new Map<string | undefined, PricedUsage>();
      const used = event.model ?? model;
      sums.set(event.agent, models.set(used, addReport(models.get(used) ?? NO_PRICED_USAGE, event)));
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, models]) => toAgentUsage(name, models));
}

function toAgentUsage(agent: string, models: ReadonlyMap<string | undefined, PricedUsage>): AgentUsage {
  return {
    agent,
    ...totalUsage([...models.values()]),
    models: [...models].map(([model, usage]) => ({ model, ...usage })),
  };
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

function addReport({ all, priced }: PricedUsage, report: EventOf<"usage.reported">): PricedUsage {
  return { all: addUsage(all, report), priced: report.costUsd === undefined ? priced : addUsage(priced, report) };
}

async function* allSessions(store: SessionStore): AsyncIterable<SessionSummary> {
  for (let before: string | undefined; ;) {
    const page = await store.list({ before, limit: MAX_PAGE });
    yield* page;
    before = page.at(-1)?.id;
    if (before === undefined) return;
  }
}
