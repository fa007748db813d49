import { expect, it } from "vitest";
import { isLimitMessage, toCodexLimit } from "./limits.ts";

/** The program and its tests share the local time zone. */
const NOW = new Date(2026, 10, 16, 4, 12, 30);
const at = (...parts: [number, number, number, number, number]) => new Date(...parts).toISOString();
const seconds = (date: Date) => date.getTime() / 1_000;

it.each([
  [
    "You’ve hit your usage limit. Visit the settings to purchase more credits or try again at 5:12 AM.",
    at(2026, 10, 16, 5, 13),
  ],
  ["You've hit your usage limit. Try again at 12:05 AM.", at(2026, 10, 17, 0, 6)],
  ["You've hit your usage limit. Try again at 12:30 PM.", at(2026, 10, 16, 12, 31)],
  ["You’ve hit your usage limit. Upgrade or try again at Nov 18th, 2026 11:46 AM.", at(2026, 10, 18, 11, 46)],
  [
    "You've hit your usage limit. Try again in 2 hours 5 minutes.",
    at(2026, 10, 16, 6, 17).replace(":00.000Z", ":30.000Z"),
  ],
  [
    "You've hit your usage limit. Try again in 3 days, 1 hour and 4 minutes.",
    at(2026, 10, 19, 5, 16).replace(":00.000Z", ":30.000Z"),
  ],
  ["You've hit your usage limit. Upgrade to Plus to continue.", undefined],
  ["You've hit your usage limit. Try again at Foo 44th, 2026 11:46 AM.", undefined],
])("parses the reset time of: %s", (message, resetsAt) => {
  expect(isLimitMessage(message)).toBe(true);
  expect(toCodexLimit(message, undefined, NOW).resetsAt).toBe(resetsAt);
});

it("prefers the account's rate limits over the message", () => {
  const soon = new Date(2026, 10, 16, 5, 0, 7);
  const later = new Date(2026, 10, 20, 5, 0, 7);
  const message = "You’ve hit your usage limit. Try again at 11:00 PM.";
  const limits = (used: number) => ({
    primary: { usedPercent: 100, resetsAt: seconds(soon) },
    secondary: { usedPercent: used, resetsAt: seconds(later) },
  });
  expect(toCodexLimit(message, limits(20), NOW).resetsAt).toBe(soon.toISOString());
  expect(toCodexLimit(message, limits(100), NOW).resetsAt).toBe(later.toISOString());
});

it("ignores windows that are not exhausted or already reset", () => {
  const past = seconds(new Date(2026, 10, 16, 4, 0));
  const message = "You’ve hit your usage limit.";
  expect(toCodexLimit(message, { primary: { usedPercent: 100, resetsAt: past } }, NOW)).toEqual({
    status: "limited",
    message,
  });
});

it("does not treat other failures as limits", () => {
  expect(isLimitMessage("exceeded retry limit, last status: 429 Too Many Requests")).toBe(false);
});
