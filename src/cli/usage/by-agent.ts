/** Groups sums of usage by agent, for the table of `rookery usage`. */
import { totalUsage, type PricedUsage, type UsageSum } from "../../session/usage.ts";

export interface AgentUsage extends PricedUsage {
  readonly agent: string;
  readonly models: readonly (PricedUsage & { readonly model: string | undefined })[];
}

/** `sums` are by agent and model. Sorted by agent name. */
export function groupByAgent(sums: readonly UsageSum[]): AgentUsage[] {
  const models = new Map<string, AgentUsage["models"]>();
  for (const { of, all, priced } of sums) {
    const { agent = "", model } = of;
    models.set(agent, [...(models.get(agent) ?? []), { model, all, priced }]);
  }
  return [...models]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([agent, own]) => ({ agent, ...totalUsage(own), models: own }));
}
