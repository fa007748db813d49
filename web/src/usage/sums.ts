/** Groups rows of usage for charts and tables. */
import type { components } from "../../../src/client/index.ts";

export type UsageRow = components["schemas"]["UsageRow"];
export type UsageDimension = "day" | "agent" | "model" | "repository";

export interface UsageSum {
  readonly name: string;
  readonly tokens: number;
  readonly knownCostUsd: number;
  readonly unpricedTokens: number;
}

/** Days in their order, the others by cost and then by tokens. */
export function sumUsageBy(rows: readonly UsageRow[], dimension: UsageDimension): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const name = row[dimension] ?? "unknown";
    const before = sums.get(name) ?? { name, tokens: 0, knownCostUsd: 0, unpricedTokens: 0 };
    sums.set(name, {
      name,
      tokens: before.tokens + row.inputTokens + row.outputTokens,
      knownCostUsd: before.knownCostUsd + row.knownCostUsd,
      unpricedTokens: before.unpricedTokens + row.unpricedTokens,
    });
  }
  const all = [...sums.values()];
  if (dimension === "day") return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  return all.sort((a, b) => b.knownCostUsd - a.knownCostUsd || b.tokens - a.tokens);
}
