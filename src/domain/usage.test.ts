import { describe, expect, it } from "vitest";
import { addUsage, includeParts, NO_USAGE, splitUsage, type UsageParts } from "./usage.ts";

const REPORT = { inputTokens: 100, outputTokens: 40, cacheReadTokens: 60, cacheWriteTokens: 10, reasoningTokens: 15 };
const sum = ({ uncachedInput, cacheRead, cacheWrite, answer, reasoning }: UsageParts): number =>
  uncachedInput + cacheRead + cacheWrite + answer + reasoning;

describe("splitUsage", () => {
  it("returns parts whose sum is all tokens, for a report and for a sum of reports", () => {
    expect(splitUsage(REPORT)).toEqual({ uncachedInput: 30, cacheRead: 60, cacheWrite: 10, answer: 25, reasoning: 15 });
    expect(sum(splitUsage(REPORT))).toBe(140);
    const both = addUsage(addUsage(NO_USAGE, REPORT), { inputTokens: 5, outputTokens: 1 });
    expect(sum(splitUsage(both))).toBe(both.inputTokens + both.outputTokens);
  });

  it("takes missing parts for none", () => {
    expect(splitUsage({ inputTokens: 3, outputTokens: 2 })).toMatchObject({ uncachedInput: 3, answer: 2 });
  });
});

describe("includeParts", () => {
  it("keeps totals that include their parts", () => {
    expect(includeParts(REPORT)).toEqual(REPORT);
  });

  it("adds parts that were counted beside their total", () => {
    const beside = { inputTokens: 30, outputTokens: 5, cacheReadTokens: 60, cacheWriteTokens: 10, reasoningTokens: 15 };
    expect(includeParts(beside)).toMatchObject({ inputTokens: 100, outputTokens: 20, cacheReadTokens: 60 });
  });
});
