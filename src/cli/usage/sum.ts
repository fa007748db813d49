/** Sums the usage of all sessions by agent and model. Reads the log in pages to limit memory. */
import { addUsage, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { MAX_PAGE, type SessionStore } from "../../domain/store.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { readSessionEvents } from "../sessions/read-events.ts";

export interface AgentUsage {
  readonly agent: string;
  readonly usage: Usage;
  readonly models: readonly { readonly model: string | undefined; readonly usage: Usage }[];
}

export interface UsageQuery {
  readonly agent?: string | undefined;
  /** Counts only usage reported at or after this time, in milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** Sorted by agent name. */
export async function sumUsage(store: SessionStore, { agent, since = -Infinity }: UsageQuery): Promise<AgentUsage[]> {
  const sums = new Map<string, Map<string | undefined, Usage>>();
  for await (const session of allSessions(store)) {
    if (Date.parse(session.updatedAt) < since) continue;
    let model: string | undefined;
    for await (const event of readSessionEvents(store, session.id, 0)) {
      if (event.type === "session.opened") model = event.model;
      if (event.type !== "usage.reported" || Date.parse(event.at) < since) continue;
      if (event.childSessionId !== undefined) continue; // the child's log has it
      if (agent !== undefined && event.agent !== agent) continue;
      const models = sums.get(event.agent) ?? new Map<string | undefined, Usage>();
      const used = event.model ?? model;
      sums.set(event.agent, models.set(used, addUsage(models.get(used) ?? NO_USAGE, event)));
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, models]) => toAgentUsage(name, models));
}

function toAgentUsage(agent: string, models: ReadonlyMap<string | undefined, Usage>): AgentUsage {
  return {
    agent,
    usage: totalUsage([...models.values()]),
    models: [...models].map(([model, usage]) => ({ model, usage })),
  };
}

export function totalUsage(usages: readonly Usage[]): Usage {
  return usages.reduce(addUsage, NO_USAGE);
}

async function* allSessions(store: SessionStore): AsyncIterable<SessionSummary> {
  for (let before: string | undefined; ;) {
    const page = await store.list({ before, limit: MAX_PAGE });
    yield* page;
    before = page.at(-1)?.id;
    if (before === undefined) return;
  }
}
