import { describe, expect, it } from "vitest";
import { detectAccountProblem } from "./account-problem.ts";

const NOW = Date.parse("2026-11-16T12:00:00.000Z");

describe("usage limits", () => {
  it.each([
    // Gemini CLI 0.61
    ["You have exhausted your daily quota on this model.", undefined],
    [
      "You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.",
      "2026-11-16T15:12:05.000Z",
    ],
    ["You exceeded your current quota. Please retry in 11520.5s.", "2026-11-16T15:12:00.500Z"],
    ["Resource has been exhausted (e.g. check quota).\nSuggested retry after 60s.", "2026-11-16T12:01:00.000Z"],
    ['{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"90s"}]}}', "2026-11-16T12:01:30.000Z"],
    // opencode 1.18 and others behind it
    ["You have exceeded your usage limit. Try again in 2 hours and 5 minutes.", "2026-11-16T14:05:00.000Z"],
    ["Rate limit exceeded: resets in 1 day, 2h", "2026-11-17T14:00:00.000Z"],
    ["insufficient_quota", undefined],
    ["Claude AI usage limit reached|1794844800", "2026-11-16T16:00:00.000Z"],
    ["usage limit reached, resets at 2026-11-16T18:30:00Z", "2026-11-16T18:30:00.000Z"],
    ["usage limit reached, resets at 2026-11-16T08:30:00Z", undefined], // in the past
  ])("detects a limit in: %s", (words, resetsAt) => {
    expect(detectAccountProblem(words, NOW)).toEqual({
      status: "limited",
      message: words,
      ...(resetsAt && { resetsAt }),
    });
  });

  it("detects a limit from the status alone", () => {
    expect(detectAccountProblem("slow down", NOW, 429)).toEqual({ status: "limited", message: "slow down" });
  });
});

describe("missing logins", () => {
  it.each([
    ["When using Gemini API, you must specify the GEMINI_API_KEY environment variable."],
    ["Invalid auth method selected."],
    ["API key not valid. Please pass a valid API key."],
    ['{"error":{"code":401,"message":"Request had invalid authentication credentials","status":"UNAUTHENTICATED"}}'],
    ["Internal error: Incorrect API key provided: ****."],
    ["You are not logged in. Please log in first."],
    ["the token has no use: authentication required"],
    ["Expired OAuth token"],
    ["invalid access token"],
    ["Invalid token."],
  ])("detects a missing login in: %s", (words) => {
    expect(detectAccountProblem(words, NOW)).toEqual({ status: "unauthorized" });
  });

  it.each([401, 403, -32000])("detects a missing login from code %d", (code) => {
    expect(detectAccountProblem("no", NOW, code)).toEqual({ status: "unauthorized" });
  });
});

it.each([
  ["Internal error: OpenCode service failure"],
  ["disk quota exceeded"],
  ["the context window is too small"],
  ["unexpected token in JSON at position 4"],
  ["SyntaxError: Invalid or unexpected token"],
  ["there are no output tokens left in the context"],
  ["missing closing token"],
  ["the turn limit was reached"],
  ["context limit reached"],
  ["no such file: tokens.ts"],
])("detects neither in: %s", (words) => {
  expect(detectAccountProblem(words, NOW)).toBeUndefined();
  expect(detectAccountProblem(words, NOW, -32603)).toBeUndefined();
});
