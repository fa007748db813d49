/** The bounds of sampled output. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OutputSampler } from "./output-sampler.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function sample(): { readonly sampler: OutputSampler; readonly parts: string[] } {
  const parts: string[] = [];
  return { sampler: new OutputSampler({ emit: (text) => parts.push(text), now: () => Date.now() }), parts };
}

it("passes the first output on at once, and more of it ten times a second", () => {
  const { sampler, parts } = sample();
  sampler.add("a");
  sampler.add("b");
  sampler.add("c");
  expect(parts).toEqual(["a"]);
  vi.advanceTimersByTime(100);
  expect(parts).toEqual(["a", "bc"]);
  vi.advanceTimersByTime(1_000);
  sampler.add("d");
  expect(parts).toEqual(["a", "bc", "d"]);
});

it("passes on only the end of a flood, less often and less of it after a while", () => {
  const { sampler, parts } = sample();
  for (let ms = 0; ms < 60_000; ms += 10) {
    sampler.add(`${"x".repeat(9_999)}\n`);
    vi.advanceTimersByTime(10);
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  expect(length).toBeLessThan(100_000);
  expect(parts.length).toBeGreaterThan(55);
  expect(parts.length).toBeLessThan(80);
  expect(parts.at(-1)).toMatch(/^\n…\nx{499}\n$/);
});

it("passes nothing on after it was disposed of", () => {
  const { sampler, parts } = sample();
  sampler.add("a");
  sampler.add("b");
  sampler[Symbol.dispose]();
  vi.advanceTimersByTime(1_000);
  expect(parts).toEqual(["a"]);
});
