import { describe, expect, it } from "vitest";
import type { Budget } from "../../domain/budget.ts";
import { budgetOf, sizeOf } from "./amounts.ts";
import { fitted, shortened, widthOf } from "../cells.ts";
import { tableOf } from "./table.ts";
import { taskView } from "./test-door.ts";

describe("a budget", () => {
  it.each<[string, Budget]>([
    ["5usd,200000tokens,30m", { usd: 5, tokens: 200_000, seconds: 1_800 }],
    ["$2.50", { usd: 2.5 }],
    ["1.5Mtokens 2h", { tokens: 1_500_000, seconds: 7_200 }],
    ["90s", { seconds: 90 }],
    ["20steps,1m", { steps: 20, seconds: 60 }],
  ])("%s is understood", (text, budget) => {
    expect(budgetOf(text)).toEqual(budget);
  });

  it.each(["", ",", "5", "5eur", "0usd", "-5usd", "5usd,6usd", "1e9usd", "m", "0.1tokens"])("%j is refused", (text) => {
    expect(() => budgetOf(text)).toThrow("--budget takes amounts");
  });
});

it.each([
  ["0", 0],
  ["1234", 1_234],
  ["500MB", 5e8],
  ["2.5 gb", 2.5e9],
])("the size %s is %i bytes", (text, size) => {
  expect(sizeOf(text)).toBe(size);
});

it.each(["", "-1", "5 apples", "GB", "1e9"])("the size %j is refused", (text) => {
  expect(() => sizeOf(text)).toThrow("--quota takes a size");
});

describe("room on a terminal", () => {
  it.each([
    ["plain", 5],
    ["日本", 4],
    ["e\u0301", 1],
    ["👩‍👩‍👧", 2],
    ["한글", 4],
    ["ｗ", 2],
  ])("%s takes %i places", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it("is neither left empty nor overrun", () => {
    expect(fitted("日本語", 5)).toBe("日本…");
    expect(fitted("日本語", 4)).toBe("日… ");
    expect(fitted("ab", 4)).toBe("ab  ");
    expect(shortened("abc", 0)).toBe("");
  });

  it.each([20, 40, 60, 80, 200])("of %i columns holds every line of a table", (width) => {
    const tasks = [
      taskView({ id: "a".repeat(64), status: "running", lastLine: "日本語".repeat(50), agent: "x".repeat(90) }),
      taskView({ id: "b", status: "failed", message: "\u001b[31mred\nand more", stage: "コード" }),
    ];
    const shown = tasks.map((task) => ({ ...task, left: false }));
    for (const line of tableOf(shown, { width })) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });
});
