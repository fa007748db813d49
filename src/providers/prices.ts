/** What tokens cost, where a price is known. */
import type { ModelReply } from "./model.ts";
import { baseName } from "./sizes.ts";

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** The price of input where it is not said. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** What a request with more input than that costs, all of it: so many times as much. */
  readonly long?: { readonly over: number; readonly input: number; readonly output: number } | undefined;
}

/** The day on which the table below was put together. */
export const PRICES_AS_OF = "2026-11-16";

/** By `provider/model`, also of a dated version of it. Undefined where no price is known: never zero. */
export function knownPrice(name: string, now: number = Date.now()): Price | undefined {
  const [input, output, cacheRead, cacheWrite, long, until] = TABLE.get(name) ?? TABLE.get(baseName(name)) ?? [];
  if (input === undefined || output === undefined) return undefined;
  if (until !== undefined && now >= Date.parse(until)) return undefined;
  return { input, output, cacheRead, cacheWrite, long };
}

/** Undefined where no price is known: never zero. */
export function costOf(usage: ModelReply["usage"], price: Price | undefined): number | undefined {
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

type Row = readonly [
  input: number,
  output: number,
  cacheRead?: number | undefined,
  cacheWrite?: number | undefined,
  long?: Price["long"],
  /** The day from which it is another one that the table does not have. */
  until?: string,
];

const OPENAI_LONG = { over: 272_000, input: 2, output: 1.5 };
const GOOGLE_LONG = { over: 200_000, input: 2, output: 1.5 };

/**
 * Standard processing, without batches, priority or regions; writing to the cache for the shortest time.
 * To check it against: platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing,
 * ai.google.dev/gemini-api/docs/pricing. Seen in excerpts of the providers' own pages: Fable, Opus 4.1 to 5, Sonnet 4.5
 * and 4.6, Haiku 4.5, GPT-6 Sol, and input and output of Gemini 4 Argon. From what others say of them: Opus, Sonnet and
 * Haiku 5.5, Sonnet 5, the other GPT-6, GPT-5.4 to 5.6 and Gemini. What nobody could be found to say is not here: older
 * models, and what the cache costs with some (it counts as input then).
 */
const TABLE: ReadonlyMap<string, Row> = new Map(
  Object.entries<Row>({
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

    "google/gemini-4-argon": [2, 10, 0.1, undefined, undefined, "2026-12-01"], // twice that then
    "google/gemini-3.8-flash": [0.75, 3.75, 0.075, undefined, undefined, "2027-01-01"], // twice that then
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
