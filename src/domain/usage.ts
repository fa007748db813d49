/**
 * Model usage in tokens, and in dollars if the price is known. All tokens are `inputTokens + outputTokens`; the other
 * numbers are parts of these two. Use `splitUsage` for parts that can be added up.
 */

export interface Usage {
  /** All tokens that the model read, with those read from and written to a cache. */
  readonly inputTokens: number;
  /** All tokens that the model wrote, with those of its reasoning. */
  readonly outputTokens: number;
  /** The part of `inputTokens` that was read from a cache. */
  readonly cacheReadTokens: number;
  /** The part of `inputTokens` that was written to a cache. */
  readonly cacheWriteTokens: number;
  /** The part of `outputTokens` that is reasoning, if it is reported. */
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

/** Usage in parts without overlap. Their sum is `inputTokens + outputTokens`. */
export interface UsageParts {
  /** Input that was neither read from a cache nor written to one. */
  readonly uncachedInput: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Output without reasoning. */
  readonly answer: number;
  readonly reasoning: number;
}

/** For a report of the log or a sum of reports. */
export function splitUsage(usage: TokenCounts): UsageParts {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  return {
    uncachedInput: inputTokens - cacheReadTokens - cacheWriteTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    answer: outputTokens - reasoningTokens,
    reasoning: reasoningTokens,
  };
}

export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/**
 * Returns the report with totals that include their parts. A part that is larger than its total was counted beside it
 * by the program, and is added.
 */
export function includeParts<Report extends TokenCounts>(report: Report): Report {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = report;
  const cached = cacheReadTokens + cacheWriteTokens;
  return {
    ...report,
    inputTokens: cached > inputTokens ? inputTokens + cached : inputTokens,
    outputTokens: reasoningTokens > outputTokens ? outputTokens + reasoningTokens : outputTokens,
  };
}

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
