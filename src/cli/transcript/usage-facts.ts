/** Formats the tokens and the cost of a turn, session or task. */
import type { Usage } from "../../domain/usage.ts";
import { formatCount, formatUsd } from "../format.ts";

/** Empty if nothing was counted, for example by a scripted model or a program that reports no usage. */
export function formatUsageFacts(usage: Usage | undefined): string[] {
  if (usage === undefined) return [];
  const { inputTokens, outputTokens, cacheReadTokens, costUsd = 0 } = usage;
  if (inputTokens + outputTokens + cacheReadTokens === 0) return costUsd === 0 ? [] : [formatUsageCost(usage, "")];
  const cached = cacheReadTokens === 0 ? "" : ` (${formatCount(cacheReadTokens)} from cache)`;
  return [
    `${formatCount(inputTokens)} tokens in${cached}`,
    `${formatCount(outputTokens)} out`,
    formatUsageCost(usage, "cost unknown"),
  ];
}

/** Marks computed costs, because they are estimates. */
export function formatUsageCost({ costUsd, costBy }: Usage, unknown: string): string {
  if (costUsd === undefined) return unknown;
  if (costBy === "computed") return `${formatUsd(costUsd)} (computed)`;
  return costBy === "mixed" ? `${formatUsd(costUsd)} (partly computed)` : formatUsd(costUsd);
}
