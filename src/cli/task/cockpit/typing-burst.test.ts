import { expect, it } from "vitest";
import { TypingBurst } from "./typing-burst.ts";

it("includes characters and Enter until the person pauses", () => {
  const burst = new TypingBurst();
  expect(burst.includes("q", 0)).toBe(false);
  burst.begin(0);
  expect(burst.includes("e", 400)).toBe(true);
  expect(burst.includes("\r", 800)).toBe(true);
  expect(burst.includes("q", 1_300)).toBe(false);
});

it("ends at a control key", () => {
  const burst = new TypingBurst();
  burst.begin(0);
  expect(burst.includes("\u0003", 10)).toBe(false);
  expect(burst.includes("q", 20)).toBe(false);
});

it("includes only repetitions of the key that it started with", () => {
  const burst = new TypingBurst();
  burst.begin(0, "a");
  expect(burst.includes("a", 30)).toBe(true);
  expect(burst.includes("y", 60)).toBe(false);
  expect(burst.includes("a", 90)).toBe(false);
});
