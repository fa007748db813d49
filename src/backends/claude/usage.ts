/** Reads token usage and cost of a Claude Code turn. */
import type { JsonRecord } from "../../programs/index.ts";
import type { TurnRecorder } from "../program/index.ts";
import { asRecord, numberAt, recordAt } from "./record-fields.ts";

type Usage = Parameters<TurnRecorder["usage"]>[0];

/** Cost of the whole session, even after `--resume` and `--fork-session` (2.1.325). */
export interface SessionCost {
  readonly costUsd: number;
}

/**
 * Returns the usage of one `result`: per model with sub-agents, if the program reports usage since the last result;
 * otherwise that of the main conversation, with the session's cost minus `before`. Without `before`, no cost.
 */
export function readUsages(result: JsonRecord, before: SessionCost | undefined): Usage[] {
  const models = Object.entries(recordAt(result, "model_usage_since_last_result") ?? {});
  if (models.length > 0) return models.flatMap(([model, used]) => toModelUsage(model, asRecord(used)) ?? []);
  const usage = recordAt(result, "usage");
  const tokens = sumTokens(usage, "input_tokens", "output_tokens", "cache_read_input_tokens", CACHE_WRITE);
  if (tokens.inputTokens + tokens.outputTokens === 0) return [];
  const [model, used] = Object.entries(recordAt(result, "modelUsage") ?? {})[0] ?? [];
  const now = readSessionCost(result);
  const cost = before === undefined || now === undefined ? undefined : now.costUsd - before.costUsd;
  return [{ ...tokens, ...(model !== undefined && { model }), ...costFields(cost), ...contextFields(asRecord(used)) }];
}

/** Returns undefined if the result has no cost. */
export function readSessionCost(result: JsonRecord): SessionCost | undefined {
  const costUsd = numberAt(result, "total_cost_usd");
  return costUsd === undefined ? undefined : { costUsd };
}

/** Returns the context tokens of one API response. */
export function readContextTokens(usage: JsonRecord | undefined): number | undefined {
  const { inputTokens, outputTokens } = sumTokens(
    usage,
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    CACHE_WRITE,
  );
  return inputTokens === 0 ? undefined : inputTokens + outputTokens;
}

/** Tokens of one API response. `inputTokens` includes those read from and written to a cache. */
export interface MessageTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** Returns undefined if the response has no usage, as one that Claude Code made up. */
export function readMessageTokens(usage: JsonRecord | undefined): MessageTokens | undefined {
  const tokens = sumTokens(usage, "input_tokens", "output_tokens", "cache_read_input_tokens", CACHE_WRITE);
  return tokens.inputTokens + tokens.outputTokens === 0 ? undefined : tokens;
}

export function addMessageTokens(one: MessageTokens, other: MessageTokens): MessageTokens {
  const cacheReadTokens = (one.cacheReadTokens ?? 0) + (other.cacheReadTokens ?? 0);
  const cacheWriteTokens = (one.cacheWriteTokens ?? 0) + (other.cacheWriteTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}

const CACHE_WRITE = "cache_creation_input_tokens";

function toModelUsage(model: string, used: JsonRecord | undefined): Usage | undefined {
  if (used === undefined) return undefined;
  const tokens = sumTokens(used, "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens");
  const reasoning = readCount(used, "thinkingTokens");
  return {
    ...tokens,
    model,
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
    ...costFields(numberAt(used, "costUSD")),
    ...contextFields(used),
  };
}

/** Counts tokens read from or written to a cache as input, as everywhere in the log. */
function sumTokens(
  used: JsonRecord | undefined,
  input: string,
  output: string,
  read: string,
  write: string,
): MessageTokens {
  const cacheReadTokens = readCount(used, read);
  const cacheWriteTokens = readCount(used, write);
  return {
    inputTokens: readCount(used, input) + cacheReadTokens + cacheWriteTokens,
    outputTokens: readCount(used, output),
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}

function costFields(costUsd: number | undefined) {
  return costUsd === undefined || costUsd < 0 ? {} : { costUsd, costBy: "reported" as const };
}

function contextFields(used: JsonRecord | undefined) {
  const contextSize = readCount(used, "contextWindow");
  return contextSize > 0 ? { contextSize } : {};
}

function readCount(record: JsonRecord | undefined, name: string): number {
  return Math.max(0, Math.trunc(numberAt(record, name) ?? 0));
}
