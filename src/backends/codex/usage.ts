/** What one turn took, from a program that tells what its whole conversation took. */
import type { EventOf } from "../../domain/index.ts";
import type { Tokens, TokenUsage } from "./wire.ts";

export type Report = Pick<
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

export type Counts = Omit<Tokens, "totalTokens">;

const NONE: Counts = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningOutputTokens: 0,
};

export class TurnUsage {
  #before: Counts | undefined;
  #now: Counts | undefined;
  #last: TokenUsage | undefined;

  /** Of a new conversation nothing was taken before; of an earlier one that is not known until it says something. */
  constructor(isNew: boolean) {
    this.#before = isNew ? NONE : undefined;
  }

  /** What was taken before the next turn, told when an earlier conversation goes on (0.166.0) or after a turn's end. */
  start(total: Counts): void {
    this.#before = total;
  }

  add(usage: TokenUsage): void {
    this.#before ??= minus(usage.total, usage.last);
    this.#now = usage.total;
    this.#last = usage;
  }

  /** For one that tells nothing but the whole: the first time after a break its part is not known. */
  addTotal(total: Counts): void {
    this.#before ??= total;
    this.#now = total;
  }

  /** Since it was last taken; undefined where that is nothing. */
  take(model: string | undefined): Report | undefined {
    const [before, now, last] = [this.#before, this.#now, this.#last];
    if (before === undefined || now === undefined) return undefined;
    const own = minus(now, before);
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

/** A total that was begun anew, after the context was compacted, say, counts for nothing less. */
function minus(now: Counts, before: Counts): Counts {
  const less = (key: keyof Counts) => Math.max(0, now[key] - before[key]);
  return {
    inputTokens: less("inputTokens"),
    outputTokens: less("outputTokens"),
    cachedInputTokens: less("cachedInputTokens"),
    cacheWriteInputTokens: less("cacheWriteInputTokens"),
    reasoningOutputTokens: less("reasoningOutputTokens"),
  };
}
