/** Model usage in tokens, and in dollars if the price is known. */

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Undefined if any report had no price, because a partial sum would look complete. */
  readonly costUsd: number | undefined;
  /**
   * `reported`: by programs. `computed`: by Rookery, from a price table. `mixed`: both. Undefined while the cost is
   * zero.
   */
  readonly costBy?: "reported" | "computed" | "mixed" | undefined;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
};

type UsageReport = { readonly [Key in keyof Usage]?: Usage[Key] | undefined };

export function addUsage(sum: Usage, more: UsageReport): Usage {
  return {
    inputTokens: sum.inputTokens + (more.inputTokens ?? 0),
    outputTokens: sum.outputTokens + (more.outputTokens ?? 0),
    cacheReadTokens: sum.cacheReadTokens + (more.cacheReadTokens ?? 0),
    cacheWriteTokens: sum.cacheWriteTokens + (more.cacheWriteTokens ?? 0),
    reasoningTokens: sum.reasoningTokens + (more.reasoningTokens ?? 0),
    costUsd: sum.costUsd === undefined || more.costUsd === undefined ? undefined : sum.costUsd + more.costUsd,
    costBy: mergeCostBy(sum, more),
  };
}

function mergeCostBy(sum: Usage, { costUsd = 0, costBy = "reported" }: UsageReport): Usage["costBy"] {
  if (costUsd === 0) return sum.costBy;
  return sum.costBy === undefined || sum.costBy === costBy ? costBy : "mixed";
}
