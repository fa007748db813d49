import { describe, expect, it } from "vitest";
import { openModel } from "./open.ts";
import { computeCost, knownPrice, PRICES_AS_OF } from "./prices.ts";
import { lookUpContextSize } from "./sizes.ts";

const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe("a price", () => {
  it.each([
    ["anthropic/claude-sonnet-5", 2, 10],
    ["anthropic/claude-haiku-4-5-20251001", 1, 5],
    ["openai/gpt-5.4-2026-03-05", 2.5, 15],
    ["google/gemini-3.1-pro-preview", 2, 12],
  ])("of %s is known, with or without a date", (name, input, output) => {
    expect(knownPrice(name)).toMatchObject({ input, output });
  });

  it.each(["ollama/qwen3", "anthropic/claude-of-tomorrow", "openrouter/anthropic/claude-sonnet-5", "toString", ""])(
    "of %s is unknown, and its cost is undefined instead of zero",
    (name) => {
      expect(knownPrice(name)).toBeUndefined();
      expect(computeCost({ ...usage, inputTokens: 1000 }, knownPrice(name))).toBeUndefined();
    },
  );

  it("is unknown from the day on which it changes", () => {
    const day = Date.parse("2026-12-01");
    expect(knownPrice("google/gemini-4-argon", day - 1)).toMatchObject({ input: 2 });
    expect(knownPrice("google/gemini-4-argon", day)).toBeUndefined();
  });

  it("has a date", () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it("counts cache reads and writes separately", () => {
    const all = { ...usage, inputTokens: 1_000_000, cacheReadTokens: 500_000, cacheWriteTokens: 100_000 };
    const cost = computeCost(
      { ...all, outputTokens: 1_000_000 },
      { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
    );
    expect(cost).toBeCloseTo(0.4 * 10 + 0.5 * 1 + 0.1 * 12.5 + 50);
    expect(computeCost(all, { input: 10, output: 50 })).toBeCloseTo(10);
  });

  it("is higher for the whole of a long request", () => {
    const price = knownPrice("openai/gpt-6-sol");
    expect(computeCost({ ...usage, inputTokens: 272_000, outputTokens: 1000 }, price)).toBeCloseTo(
      0.272 * 2 + 0.001 * 10,
    );
    expect(computeCost({ ...usage, inputTokens: 272_001, outputTokens: 1000 }, price)).toBeCloseTo(
      0.272 * 4 + 0.001 * 15,
      4,
    );
  });
});

describe("a context size", () => {
  it.each([
    ["anthropic/claude-sonnet-5-5", 1_000_000],
    ["anthropic/claude-sonnet-4-5-20250929", 200_000],
    ["openrouter/anthropic/claude-opus-5", 1_000_000],
    ["openai/gpt-6.1-sol", 1_050_000],
    ["google/gemini-2.5-flash", 1_048_576],
    ["ollama/qwen3", undefined],
  ])("of %s is %s tokens", (name, size) => {
    expect(lookUpContextSize(name)).toBe(size);
  });

  it("comes from the agent, then the provider, then the built-in table", () => {
    const sizeWith = (options: object) => openModel("anthropic/claude-sonnet-5", { env: {}, apiKey: "k", ...options });
    const providers = new Map([["anthropic", { context: 2000 }]]);
    expect(sizeWith({ providers, context: 1000 }).contextSize).toBe(1000);
    expect(sizeWith({ providers }).contextSize).toBe(2000);
    expect(sizeWith({}).contextSize).toBe(1_000_000);
  });
});
