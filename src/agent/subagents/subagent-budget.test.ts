import { expect, it } from "vitest";
import { NO_USAGE, type SubagentLimits } from "../../domain/index.ts";
import { SubagentBudget } from "./subagent-budget.ts";

it("stops running children when another one has used up the budget and ended before its usage was counted", () => {
  let recorded = NO_USAGE;
  const budget = new SubagentBudget({ budgetTokens: 4_000 } as SubagentLimits, () => recorded);
  budget.removeChild("ses_1");
  expect(budget.isUsedUp).toBe(false);
  recorded = { ...NO_USAGE, inputTokens: 5_000 };
  budget.removeChild("ses_2");
  expect(budget.signal.reason).toMatchObject({ code: "subagent_limit" });
});
