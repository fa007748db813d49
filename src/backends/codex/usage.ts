/** Computes the usage of one turn from a program that reports totals of the conversation. */
import type { EventOf } from "../../domain/index.ts";
import type { TokenBreakdown, TokenUsage } from "./wire.ts";

export type CodexUsage = Pick<
  EventOf<"usage.reported">,
  | "model"
  | "inputTokens"
  | "outputTokens"
  | "cacheReadTokens"
  | "cacheWriteTokens"
  | "reasoningTokens"
  | "contextUsed"
  | "contextSize"
>;

export type TokenTotals = Omit<TokenBreakdown, "totalTokens">;

const NONE: TokenTotals = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningOutputTokens: 0,
};

export class TurnUsage {
  #before: TokenTotals | undefined;
  #now: TokenTotals | undefined;
  #last: TokenUsage | undefined;

  /** A new conversation starts at zero. The baseline of a resumed one is unknown until it reports usage. */
  constructor(isNew: boolean) {
    this.#before = isNew ? NONE : undefined;
  }

  /** Sets the baseline of the next turn: the usage of a resumed conversation (0.166.0), or what follows a turn's end. */
  setBaseline(total: TokenTotals): void {
    this.#before = total;
  }

  add(usage: TokenUsage): void {
    this.#before ??= subtractTotals(usage.total, usage.last);
    this.#now = usage.total;
    this.#last = usage;
  }

  /** For a program that reports only totals. The first one after a resume is the baseline. */
  addTotal(total: TokenTotals): void {
    this.#before ??= total;
    this.#now = total;
  }

  /** Returns the usage since the last call, or undefined if there was none. */
  take(model: string | undefined): CodexUsage | undefined {
    const [before, now, last] = [this.#before, this.#now, this.#last];
    if (before === undefined || now === undefined) return undefined;
    const own = subtractTotals(now, before);
    this.#before = now;
    this.#last = undefined;
    if (own.inputTokens === 0 && own.outputTokens === 0) return undefined;
    const size = last?.modelContextWindow ?? undefined;
    return {
      ...(model !== undefined && { model }),
      inputTokens: own.inputTokens,
      outputTokens: own.outputTokens,
      cacheReadTokens: own.cachedInputTokens,
      cacheWriteTokens: own.cacheWriteInputTokens,
      reasoningTokens: own.reasoningOutputTokens,
      ...(last !== undefined && { contextUsed: last.last.totalTokens }),
      ...(size !== undefined && { contextSize: size }),
    };
  }
}

/** Subtracts, but not below zero: totals may restart, for example after a compaction. */
function subtractTotals(now: TokenTotals, before: TokenTotals): TokenTotals {
  const less = (key: keyof TokenTotals) => Math.max(0, now[key] - before[key]);
  return {
    inputTokens: less("inputTokens"),
    outputTokens: less("outputTokens"),
    cachedInputTokens: less("cachedInputTokens"),
    cacheWriteInputTokens: less("cacheWriteInputTokens"),
    reasoningOutputTokens: less("reasoningOutputTokens"),
  };
}
