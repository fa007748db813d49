/** Token prices of known models. */
import type { ModelPrice, ModelReply } from "../domain/model.ts";
import { stripVersionSuffix } from "./sizes.ts";

/** The date of the price table. */
export const PRICES_AS_OF = "2026-11-16";

/** Looks up a price by `provider/model`, ignoring a version date. Undefined if unknown, never zero. */
export function knownPrice(name: string, now: number = Date.now()): ModelPrice | undefined {
  const [input, output, cacheRead, cacheWrite, long, until] =
    PRICE_TABLE.get(name) ?? PRICE_TABLE.get(stripVersionSuffix(name)) ?? [];
  if (input === undefined || output === undefined) return undefined;
  if (until !== undefined && now >= Date.parse(until)) return undefined;
  return { input, output, cacheRead, cacheWrite, long };
}

/** Returns USD, or undefined if the price is unknown; never zero. */
export function computeCost(usage: ModelReply["usage"], price: ModelPrice | undefined): number | undefined {
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { input = 1, output = 1 } = price.long !== undefined && inputTokens > price.long.over ? price.long : {};
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const perMillion =
    fresh * price.input * input +
    cacheReadTokens * (price.cacheRead ?? price.input) * input +
    cacheWriteTokens * (price.cacheWrite ?? price.input) * input +
    outputTokens * price.output * output;
  return perMillion / 1_000_000;
}

type PriceRow = readonly [
  input: number,
  output: number,
  cacheRead?: number | undefined,
  cacheWrite?: number | undefined,
  long?: ModelPrice["long"],
  /** The day from which the price is no longer valid. */
  until?: string,
];

const OPENAI_LONG = { over: 272_000, input: 2, output: 1.5 };
const GOOGLE_LONG = { over: 200_000, input: 2, output: 1.5 };

/**
 * Standard processing, without batch, priority or regional prices; cache writes with the shortest lifetime. Sources:
 * platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing,
 * ai.google.dev/gemini-api/docs/pricing. Confirmed in excerpts of the providers' pages: Fable, Opus 4.1 to 5, Sonnet
 * 4.5 and 4.6, Haiku 4.5, GPT-6 Sol, and input and output of Gemini 4 Argon. From third parties: Opus, Sonnet and Haiku
 * 5.5, Sonnet 5, the other GPT-6, GPT-5.4 to 5.6 and Gemini. Missing: older models, and some cache prices, which count
 * as input.
 */
const PRICE_TABLE: ReadonlyMap<string, PriceRow> = new Map(
  Object.entries<PriceRow>({
    "anthropic/claude-fable-5-1": [10, 50, 0.25, 12.5],
    "anthropic/claude-fable-5": [10, 50, 1, 12.5],
    "anthropic/claude-opus-5-5": [4, 20, 0.2, 5],
    "anthropic/claude-opus-5": [5, 25, 0.5, 6.25],
    "anthropic/claude-opus-4-8": [5, 25, 0.5, 6.25],
    "anthropic/claude-opus-4-7": [5, 25, 0.5, 6.25],
    "anthropic/claude-opus-4-6": [5, 25, 0.5, 6.25],
    "anthropic/claude-opus-4-5": [5, 25, 0.5, 6.25],
    "anthropic/claude-opus-4-1": [15, 75, 1.5, 18.75],
    "anthropic/claude-sonnet-5-5": [2, 10, 0.1, 2.5],
    "anthropic/claude-sonnet-5": [2, 10, 0.2, 2.5],
    "anthropic/claude-sonnet-4-6": [3, 15, 0.3, 3.75],
    "anthropic/claude-sonnet-4-5": [3, 15, 0.3, 3.75],
    "anthropic/claude-haiku-5-5": [0.1, 0.5, 0.01, 0.125, { over: 100_000, input: 5, output: 5 }],
    "anthropic/claude-haiku-4-5": [1, 5, 0.1, 1.25],

    "openai/gpt-6-astra": [10, 50, 1, undefined, OPENAI_LONG],
    "openai/gpt-6.1-sol": [2, 10, 0.1, undefined, OPENAI_LONG],
    "openai/gpt-6.1-terra": [1, 5, 0.05, 1.25, OPENAI_LONG],
    "openai/gpt-6-sol": [2, 10, 0.2, 2.5, OPENAI_LONG],
    "openai/gpt-6-luna": [0.1, 0.5, 0.01, 0.125, OPENAI_LONG],
    "openai/gpt-5.6": [4, 20, 0.4, undefined, OPENAI_LONG],
    "openai/gpt-5.6-sol": [4, 20, 0.4, undefined, OPENAI_LONG],
    "openai/gpt-5.6-terra": [2, 12, 0.2, undefined, OPENAI_LONG],
    "openai/gpt-5.6-luna": [0.2, 1.2, 0.02, undefined, OPENAI_LONG],
    "openai/gpt-5.5": [5, 30, 0.5, undefined, OPENAI_LONG],
    "openai/gpt-5.4": [2.5, 15, 0.25, undefined, OPENAI_LONG],
    "openai/gpt-5.4-mini": [0.75, 4.5, 0.075],

    "google/gemini-4-argon": [2, 10, 0.1, undefined, undefined, "2026-12-01"], // doubles then
    "google/gemini-3.8-flash": [0.75, 3.75, 0.075, undefined, undefined, "2027-01-01"], // doubles then
    "google/gemini-3.7-flash": [0.75, 3.75, 0.075],
    "google/gemini-3.5-flash": [1.5, 9],
    "google/gemini-3.1-pro": [2, 12, undefined, undefined, GOOGLE_LONG],
    "google/gemini-3.1-flash-lite": [0.25, 1.5],
    "google/gemini-3-flash": [0.5, 3],
    "google/gemini-2.5-pro": [1.25, 10, undefined, undefined, GOOGLE_LONG],
    "google/gemini-2.5-flash": [0.3, 2.5],
    "google/gemini-2.5-flash-lite": [0.1, 0.4],
  }),
);

/** The models with a known price, as `provider/model`. */
export const KNOWN_MODELS: readonly string[] = [...PRICE_TABLE.keys()];
