/** What tokens cost, where a price is known. */
import type { EventBody } from "../domain/index.ts";
import type { ModelReply } from "../providers/index.ts";

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** The price of input where it is not said. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

export function usageEvent({ usage }: ModelReply, model: string, price: Price | undefined): EventBody {
  const costUsd = costOf(usage, price);
  return { type: "usage.reported", model, ...usage, ...(costUsd !== undefined && { costUsd, costBy: "computed" }) };
}

/** Undefined where no price is known: never zero. */
export function costOf(usage: ModelReply["usage"], price: Price | undefined): number | undefined {
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const perMillion =
    fresh * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return perMillion / 1_000_000;
}
