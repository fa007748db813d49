/** Finds the budget that another step would exceed. No clock, no I/O. */
import {
  amountText,
  BUDGET_HOLDERS,
  BUDGET_UNITS,
  raisedKey,
  type Amounts,
  type Budget,
  type BudgetHolder,
  type BudgetUnit,
  type Spent,
} from "../domain/index.ts";

export interface ExceededBudget {
  readonly of: BudgetHolder;
  readonly unit: BudgetUnit;
  /** The configured amount. */
  readonly configured: number;
  /** The amount with all raises. */
  readonly limit: number;
  /** Undefined if the amount is unknown. */
  readonly used: number | undefined;
}

/** The budget of an agent, and whether the price of its model is known. */
export interface AgentBudget {
  readonly agentName: string;
  readonly budget: Budget | undefined;
  readonly isPriced: boolean;
}

/** Returns the first budget that is used up, except for those lifted for this turn. */
export function findExceededAgentBudget(
  agent: AgentBudget,
  spent: Spent,
  lifted: ReadonlySet<string>,
): ExceededBudget | undefined {
  for (const of of BUDGET_HOLDERS) {
    const { budget, used } = getAccount(of, agent, spent);
    for (const unit of BUDGET_UNITS) {
      const configured = budget?.[unit];
      const key = raisedKey(of, unit, agent.agentName);
      const raised = spent.budgets.raised[key];
      if (configured === undefined || raised === null || lifted.has(key)) continue;
      const limit = Math.max(configured, raised ?? 0);
      const amount = unit === "usd" && !agent.isPriced ? undefined : used[unit];
      if (amount === undefined || amount >= limit) return { of, unit, configured, limit, used: amount };
    }
  }
  return undefined;
}

/**
 * Describes an exceeded budget. The text must be the same every time, because after a crash a question is recognized by
 * it.
 */
export function describeExceededBudget({ of, unit, limit, used }: ExceededBudget, agentName: string): string {
  const who = of === "agent" ? `agent ${agentName}` : `the ${of}`;
  const where = of === "agent" ? " in this session" : "";
  if (used === undefined) {
    return `${who} has a budget of ${amountText(unit, limit)}${where}, but the price of this model is unknown`;
  }
  if (unit === "seconds") return `${who} has used its ${amountText(unit, limit)}${where}`; // the exact duration would differ between calls
  const [usedText, limitText] = [amountText(unit, used), amountText(unit, limit)];
  return `${who} has used ${usedText.slice(0, usedText.indexOf(" "))} of ${limitText}${where}`;
}

/** Returns the used amount plus the original budget, or null (no limit) if the used amount is unknown. */
export function computeRaisedLimit({ configured, used }: ExceededBudget): number | null {
  return used === undefined ? null : used + configured;
}

function getAccount(
  of: BudgetHolder,
  { budget }: AgentBudget,
  { session, agent, budgets }: Spent,
): { readonly budget: Budget | undefined; readonly used: Amounts } {
  switch (of) {
    case "agent":
      return { budget, used: agent };
    case "session":
      return { budget: budgets.session, used: session };
    case "task":
      return { budget: budgets.task?.budget, used: addAmounts(session, budgets.task?.elsewhere) };
  }
}

function addAmounts(one: Amounts, other: Amounts | undefined): Amounts {
  if (other === undefined) return one;
  const of = (unit: BudgetUnit): number | undefined => {
    const [a, b] = [one[unit], other[unit]];
    return a === undefined || b === undefined ? undefined : a + b;
  };
  return { usd: of("usd"), tokens: of("tokens"), steps: of("steps"), seconds: of("seconds") };
}
