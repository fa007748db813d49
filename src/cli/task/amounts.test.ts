import { describe, expect, it } from "vitest";
import type { Budget } from "../../domain/budget-schema.ts";
import { parseBudget, parseSize } from "./amounts.ts";
import { fitToWidth, truncateToWidth, displayWidth } from "../display-width.ts";
import { formatTaskTable } from "./table.ts";
import { taskView } from "./test-service.ts";

describe("parseBudget", () => {
  it.each<[string, Budget]>([
    ["5usd,200000tokens,30m", { usd: 5, tokens: 200_000, seconds: 1_800 }],
    ["$2.50", { usd: 2.5 }],
    ["1.5Mtokens 2h", { tokens: 1_500_000, seconds: 7_200 }],
    ["90s", { seconds: 90 }],
    ["20steps,1m", { steps: 20, seconds: 60 }],
  ])("parses %s", (text, budget) => {
    expect(parseBudget(text)).toEqual(budget);
  });

  it.each(["", ",", "5", "5eur", "0usd", "-5usd", "5usd,6usd", "1e9usd", "m", "0.1tokens"])("rejects %j", (text) => {
    expect(() => parseBudget(text)).toThrow("--budget must be positive amounts");
  });
});

it.each([
  ["0", 0],
  ["1234", 1_234],
  ["500MB", 5e8],
  ["2.5 gb", 2.5e9],
])("parses the size %s as %i bytes", (text, size) => {
  expect(parseSize(text)).toBe(size);
});

it.each(["", "-1", "5 apples", "GB", "1e9"])("rejects the size %j", (text) => {
  expect(() => parseSize(text)).toThrow("--quota must be a size");
});

describe("display width", () => {
  it.each([
    ["plain", 5],
    ["日本", 4],
    ["e\u0301", 1],
    ["👩‍👩‍👧", 2],
    ["한글", 4],
    ["ｗ", 2],
  ])("%s takes %i columns", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it("pads and truncates text to the width", () => {
    expect(fitToWidth("日本語", 5)).toBe("日本…");
    expect(fitToWidth("日本語", 4)).toBe("日… ");
    expect(fitToWidth("ab", 4)).toBe("ab  ");
    expect(truncateToWidth("abc", 0)).toBe("");
  });

  it.each([20, 40, 60, 80, 200])("fits every line of a table into %i columns", (width) => {
    const tasks = [
      taskView({ id: "a".repeat(64), status: "running", lastLine: "日本語".repeat(50), agent: "x".repeat(90) }),
      taskView({ id: "b", status: "failed", message: "\u001b[31mred\nand more", stage: "コード" }),
    ];
    const shown = tasks.map((task) => ({ ...task, interrupted: false }));
    for (const line of formatTaskTable(shown, { width })) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });
});
