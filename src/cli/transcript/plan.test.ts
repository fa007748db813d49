import { expect, it } from "vitest";
import { plainPaint } from "../paint.ts";
import { formatPlan } from "./plan.ts";

it("marks items that are done, in progress and open", () => {
  expect(
    formatPlan(
      [
        { content: "Read the code", status: "completed" },
        { content: "Fix\u001b[2J the\nbug", status: "in_progress" },
        { content: "Run the tests", status: "pending" },
      ],
      plainPaint,
    ),
  ).toEqual(["plan: 1 of 3 done", "  ✓ Read the code", "  › Fix[2J the bug", "  · Run the tests"]);
});

it("shows a long plan around the first item that is not done", () => {
  const entries = Array.from({ length: 500 }, (_, index) => ({
    content: `item ${index} ${"x".repeat(1_000)}`,
    status: index < 250 ? ("completed" as const) : ("pending" as const),
  }));
  const lines = formatPlan(entries, plainPaint);
  expect(lines).toHaveLength(15);
  expect(lines.slice(0, 2)).toEqual(["plan: 250 of 500 done", "  … 248 before"]);
  expect(lines[4]).toMatch(/^ {2}· item 250 x/);
  expect(lines.at(-1)).toBe("  … 240 more");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(170);
});

it("shows the end of a plan that is done", () => {
  const entries = Array.from({ length: 20 }, (_, index) => ({ content: `${index}`, status: "completed" as const }));
  expect(formatPlan(entries, plainPaint).at(-1)).toBe("  ✓ 19");
});
