import { expect, it } from "vitest";
import { toClaudeLimit, parseResetTime, mentionsLimit } from "./limits.ts";

const NOW = Date.parse("2026-11-16T04:00:00Z");

it.each([
  ["Claude AI usage limit reached|1760000000", "2025-10-09T08:53:20.000Z"],
  ["Claude AI usage limit reached|1760000000000", "2025-10-09T08:53:20.000Z"],
  ["You've hit your 5-hour limit · resets 5:13am (UTC)", "2026-11-16T05:13:00.000Z"],
  ["You've hit your weekly limit · resets Nov 19, 5:13am (UTC)", "2026-11-19T05:13:00.000Z"],
  ["5-hour limit reached ∙ resets 3pm (Europe/Berlin)", "2026-11-16T14:00:00.000Z"],
  ["5-hour limit reached ∙ resets 4am (Europe/Berlin)", "2026-11-17T03:00:00.000Z"], // it is already five there
  ["Weekly limit reached ∙ resets Mar 3, 3pm (America/New_York)", "2027-03-03T20:00:00.000Z"],
  ["Weekly limit reached ∙ resets Mar 3, 2028, 3:30pm (UTC)", "2028-03-03T15:30:00.000Z"],
  ["Opus weekly limit reached ∙ resets Oct 25 at 12am (Europe/Berlin)", "2027-10-24T22:00:00.000Z"],
  ["limit reached ∙ resets 15:30 (Asia/Kolkata)", "2026-11-16T10:00:00.000Z"],
  [
    "You have reached your usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
    "2026-12-01T00:00:00.000Z",
  ],
  ["usage limit reached, resets 2026-12-01T10:00:00+02:00", "2026-12-01T08:00:00.000Z"],
])("%s resets at %s", (words, expected) => {
  const at = parseResetTime(words, NOW);
  expect(at === undefined ? at : new Date(at).toISOString()).toBe(expected);
});

it.each([
  "usage limit reached",
  "limit reached ∙ resets soon",
  "limit reached ∙ resets 13pm (UTC)",
  "limit reached ∙ resets 25:00 (UTC)",
  "limit reached ∙ resets 3:75pm (UTC)",
  "limit reached ∙ resets Foo 3, 3pm (UTC)",
  "limit reached ∙ resets 3pm (Moon/Tycho)",
])("%s has no known reset time", (words) => {
  expect(parseResetTime(words, NOW)).toBeUndefined();
});

it("reads a time without a zone as local time", () => {
  const here = new Date(NOW);
  here.setHours(23, 45, 0, 0);
  expect(parseResetTime("limit reached ∙ resets 11:45pm", NOW)).toBe(here.getTime());
});

it.each([
  ["Claude AI usage limit reached|1760000000", true],
  ["You've hit your 5-hour limit · resets 5:13am (UTC)", true],
  ["You've reached your Opus limit", true],
  ["5-hour limit reached ∙ resets 3pm", true],
  ["You have reached your specified API usage limits.", true],
  ["API Error: Request rejected (429) · Number of requests too high", false],
  ["This request would exceed your account's rate limit.", false],
  ["Claude's response exceeded the 128000 output token maximum.", false],
  ["Context limit reached", false],
])("%s is a usage limit message: %s", (words, expected) => {
  expect(mentionsLimit(words)).toBe(expected);
});

it("prefers the reset time of the rate limit record and removes it from the message", () => {
  const info = { status: "rejected", resetsAt: 1_794_805_987 };
  expect(toClaudeLimit("Claude AI usage limit reached|1760000000", info, NOW)).toEqual({
    status: "limited",
    message: "Claude AI usage limit reached",
    resetsAt: "2026-11-16T05:13:07.000Z",
  });
  expect(toClaudeLimit("You've hit your limit", { status: "rejected" }, NOW)).toEqual({
    status: "limited",
    message: "You've hit your limit",
  });
});
