/** Reads token usage and cost of a Claude Code turn. */
import type { JsonRecord } from "../../programs/index.ts";
import type { Telling } from "../program/index.ts";
import { asRecord, numberAt, recordAt } from "./reading.ts";

type Usage = Parameters<Telling["usage"]>[0];

/** Cost of the whole session, also after `--resume` and `--fork-session` (2.1.325). */
export interface Counted {
  readonly costUsd: number;
}

/**
 * Returns the usage of one `result`: per model with sub-agents, if the program reports usage since the last result;
 * otherwise that of the main conversation, with the session's cost minus `before`. Without `before`, no cost.
 */
export function usagesOf(result: JsonRecord, before: Counted | undefined): Usage[] {
  const models = Object.entries(recordAt(result, "model_usage_since_last_result") ?? {});
  if (models.length > 0) return models.flatMap(([model, used]) => ofModel(model, asRecord(used)) ?? []);
  const usage = recordAt(result, "usage");
  const tokens = tokensOf(usage, "input_tokens", "output_tokens", "cache_read_input_tokens", CACHE_WRITE);
  if (tokens.inputTokens + tokens.outputTokens === 0) return [];
  const [model, used] = Object.entries(recordAt(result, "modelUsage") ?? {})[0] ?? [];
  const now = countedBy(result);
  const cost = before === undefined || now === undefined ? undefined : now.costUsd - before.costUsd;
  return [{ ...tokens, ...(model !== undefined && { model }), ...costed(cost), ...sized(asRecord(used)) }];
}

/** Returns undefined if the result has no cost. */
export function countedBy(result: JsonRecord): Counted | undefined {
  const costUsd = numberAt(result, "total_cost_usd");
  return costUsd === undefined ? undefined : { costUsd };
}

/** Returns the context tokens of one API response. */
export function contextOf(usage: JsonRecord | undefined): number | undefined {
  const { inputTokens, outputTokens } = tokensOf(
    usage,
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    CACHE_WRITE,
  );
  return inputTokens === 0 ? undefined : inputTokens + outputTokens;
}

const CACHE_WRITE = "cache_creation_input_tokens";

function ofModel(model: string, used: JsonRecord | undefined): Usage | undefined {
  if (used === undefined) return undefined;
  const tokens = tokensOf(used, "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens");
  const reasoning = count(used, "thinkingTokens");
  return {
    ...tokens,
    model,
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
    ...costed(numberAt(used, "costUSD")),
    ...sized(used),
  };
}

/** Counts tokens read from or written to a cache as input, as everywhere in the log. */
function tokensOf(used: JsonRecord | undefined, input: string, output: string, read: string, write: string) {
  const cacheReadTokens = count(used, read);
  const cacheWriteTokens = count(used, write);
  return {
    inputTokens: count(used, input) + cacheReadTokens + cacheWriteTokens,
    outputTokens: count(used, output),
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}

function costed(costUsd: number | undefined) {
  return costUsd === undefined || costUsd < 0 ? {} : { costUsd, costBy: "reported" as const };
}

function sized(used: JsonRecord | undefined) {
  const contextSize = count(used, "contextWindow");
  return contextSize > 0 ? { contextSize } : {};
}

function count(record: JsonRecord | undefined, name: string): number {
  return Math.max(0, Math.trunc(numberAt(record, name) ?? 0));
}
