import { expect, it } from "vitest";
import { fitRange, type EventRange } from "./page.ts";

const range = { first: 11, last: 1_010 };
const KB = 1024;

it.each(["oldest_first", "newest_first"] as const)("does not measure much more than what fits, %s", (order) => {
  for (const size of [100, 4 * KB, 840 * KB]) {
    let measured = 0;
    const countBytes = ({ first, last }: EventRange): number => {
      measured += (last - first + 1) * size;
      return (last - first + 1) * size;
    };
    const fitting = fitRange(range, order, countBytes, 256 * KB);
    const count = fitting.last - fitting.first + 1;
    expect(order === "oldest_first" ? fitting.first : fitting.last).toBe(order === "oldest_first" ? 11 : 1_010);
    expect(count === 1 || count * size <= 256 * KB).toBe(true);
    expect(count).toBeGreaterThanOrEqual(Math.min(1_000, Math.max(1, (256 * KB) / size / 2)));
    expect(measured).toBeLessThan(10 * Math.max(256 * KB, size)); // SQLite reads everything that it measures
  }
});

it("returns an empty range for an empty range", () => {
  expect(fitRange({ first: 5, last: 4 }, "oldest_first", () => 0)).toEqual({ first: 5, last: 4 });
});
